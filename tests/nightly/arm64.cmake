# Builds programs for arm64, which qemu runs. in_debian.sh installs what they need.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64)
# The machine that builds has these packages only for its own architecture.
set(CMAKE_DISABLE_FIND_PACKAGE_MPI ON)
set(CMAKE_DISABLE_FIND_PACKAGE_HDF5 ON)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
