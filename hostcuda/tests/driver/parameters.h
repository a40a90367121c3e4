// Types of parameters that the module and the tests share.
#ifndef HOSTCUDA_TESTS_DRIVER_PARAMETERS_H
#define HOSTCUDA_TESTS_DRIVER_PARAMETERS_H

struct Pair {
  char x;
  float y;
};
struct Large {
  int values[9];
};

#endif
