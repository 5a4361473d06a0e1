#include "driver/memplan.h"

int main(int argc, char** argv) { return atc::driver::memplan_main(argc, argv); }
