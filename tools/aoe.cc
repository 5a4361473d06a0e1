#include "driver/main.h"

int main(int argc, char** argv) { return atc::driver::run_aoe(argc, argv); }
