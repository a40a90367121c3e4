# Programs for arm64, run by qemu: g++-aarch64-linux-gnu, qemu-user and arm64's libraries (in_debian.sh).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64)
# What the building machine has for itself; step 14 and HDF5 are built where they are there for arm64, too.
set(CMAKE_DISABLE_FIND_PACKAGE_MPI ON)
set(CMAKE_DISABLE_FIND_PACKAGE_HDF5 ON)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
