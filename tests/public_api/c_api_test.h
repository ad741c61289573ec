/* Between the C program and the C++ that gives it files. */
#ifndef DEPUTY_TESTS_PUBLIC_API_C_API_TEST_H_
#define DEPUTY_TESTS_PUBLIC_API_C_API_TEST_H_

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct c_api_case {
  const void* tflite;
  size_t tflite_bytes;
  const void* input; /* 256 bytes */
  const void* golden;
  size_t output_bytes;
};
/* Checks that did not hold; each is told on stderr. */
int c_api_failures(const struct c_api_case* c);

#ifdef __cplusplus
}
#endif

#endif
