#include "driver/omverify.h"

int main(int argc, char** argv) { return atc::driver::omverify_main(argc, argv); }
