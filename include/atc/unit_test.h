/* Unit tests of operators: a program gives a library's operator tensors, and gets what its kernel makes of
 * them on the simulated AI Core, or what is wrong with it. The simulator's side, in libatc_custom; programs
 * use atc_opp/unit_test.h. The library runs in a child process: what it does wrong ends there. */
#ifndef ATC_UNIT_TEST_H
#define ATC_UNIT_TEST_H

#include "atc/custom_op.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct AtcUnitTest AtcUnitTest;

/* Opens the operator `type` of a library for the chip that the environment variable ATC_SOC_VERSION names
 * (Ascend910B3). Null when that cannot be; stderr says why. */
AtcUnitTest* atc_unit_open(const char* library, const char* type);
void atc_unit_close(AtcUnitTest* test);

uint32_t atc_unit_combinations(const AtcUnitTest* test);
uint32_t atc_unit_inputs(const AtcUnitTest* test);
uint32_t atc_unit_outputs(const AtcUnitTest* test);
const char* atc_unit_input_name(const AtcUnitTest* test, uint32_t input);
const char* atc_unit_output_name(const AtcUnitTest* test, uint32_t output);
/* Element type of an input; -1 for numbers beyond what there is. */
int32_t atc_unit_input_dtype(const AtcUnitTest* test, uint32_t combination, uint32_t input);

typedef struct AtcUnitTensor {
  int32_t dtype;
  int32_t rank; /* -1: an absent optional input */
  int64_t dims[ATC_CUSTOM_OP_MAX_RANK];
  void* data; /* row-major; of an output: the test's, until its next run */
  uint64_t bytes;
} AtcUnitTensor;

/* Infers, tiles and runs, with all checks. `inputs` are all of the operator's, with the dtypes of the
 * combination; `attrs` those that are not to have their defaults; `outputs` (as many as the operator has) are
 * filled in. Bytes of outputs that the kernel does not write stay 0xff. Returns 0, or 1 when something is
 * wrong, which stderr tells. A program that is called with `--profile DIR`, or with the environment variable
 * ATC_PROFILE=DIR, gets PipeUtilization.csv and trace.json of all runs in DIR, and on stderr what bounds
 * each. */
int atc_unit_run(AtcUnitTest* test, uint32_t combination, const AtcUnitTensor* inputs,
                 const AtcCustomAttr* attrs, uint32_t attr_count, AtcUnitTensor* outputs);
/* Cycles that the last run took. */
int64_t atc_unit_cycles(const AtcUnitTest* test);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* ATC_UNIT_TEST_H */
