#include "driver/omdiff.h"

int main(int argc, char** argv) { return atc::driver::omdiff_main(argc, argv); }
