#include "driver/msopgen.h"

int main(int argc, char** argv) { return atc::driver::msopgen_main(argc, argv); }
