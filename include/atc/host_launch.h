/* Programs that launch kernels by themselves (<<<...>>>, ICPU_RUN_KF): the simulator's side, in
 * libatc_custom. */
#ifndef ATC_HOST_LAUNCH_H
#define ATC_HOST_LAUNCH_H

#include <stddef.h>
#include <stdint.h>

#include "atc/core_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Global Memory, zero-filled, aligned to 64 bytes, between pages that cannot be touched; kernels touch no
 * other memory. Null when there is not enough, and for 0 bytes. */
void* atc_gm_alloc(size_t bytes);
/* 1, with a message on stderr, for what atc_gm_alloc has not given or what is free already. */
int atc_gm_free(void* memory);
/* Memory of the program's own that kernels may touch; until atc_gm_forget. */
void atc_gm_register(void* memory, size_t bytes, const char* name);
void atc_gm_forget(void* memory);

typedef struct AtcHostLaunch {
  AtcKernel kernel;
  const char* name;
  uint32_t block_dim;
  int32_t kernel_type; /* AtcKernelType; -1: what the kernel declares */
  uint64_t tiling_key;
  uint32_t arg_count;
  void* const* args;
} AtcHostLaunch;

/* Runs the kernel on the chip that the environment variable ATC_SOC_VERSION names (Ascend910B3). What the
 * kernel prints goes to stdout, what it does wrong to stderr with its line. With the environment variable
 * ATC_PROFILE=DIR, DIR has PipeUtilization.csv and trace.json of all launches so far, and stderr what bounds
 * each. Returns the number of errors; a program in which there were some does not exit with 0. A kernel that
 * crashes, or does not end within ATC_KERNEL_TIMEOUT seconds (60; 0: no limit), ends the program with a
 * diagnostic and exit code 1. */
int atc_host_launch(const AtcHostLaunch* launch);
/* The chip that ATC_SOC_VERSION names; null when there is no such chip. Host code that may run in another
 * program asks whether the function is there. */
struct AtcCustomChip;
__attribute__((weak)) const struct AtcCustomChip* atc_host_chip(void);
/* Its name; empty when there is no such chip. */
const char* atc_host_soc(void);
/* Errors of all launches so far, and what the last launch that had some said. */
int atc_host_errors(void);
const char* atc_host_error_text(void);
/* Launches from here on are timed; microseconds of the chip that they took, one after the other. */
void atc_host_measure(void);
double atc_host_us(void);
/* Bytes of Global Memory that are allocated, and what the chip has. */
void atc_gm_usage(size_t* used, size_t* total);
/* Bytes from this address to the end of its allocation; 0: it is in none. */
size_t atc_gm_reach(const void* at);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* ATC_HOST_LAUNCH_H */
