#include "driver/omrun.h"

int main(int argc, char** argv) { return atc::driver::omrun_main(argc, argv); }
