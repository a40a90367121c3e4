# shellcheck shell=sh
# with_clang.sh CLANGXX [CCACHE] COMPILER ARGUMENT...: runs CLANGXX instead of COMPILER.
clang=$1 ccache=
shift
case $1 in
  *ccache) ccache=$1 && shift ;;
esac
shift
exec $ccache "$clang" "$@"
