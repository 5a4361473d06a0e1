#include "driver/ascendc_gxx.h"

int main(int argc, char** argv) { return atc::driver::ascendc_gxx_main(argc, argv); }
