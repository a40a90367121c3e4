# The view command of ./nbody, which sources this: a run or files of bodies in a browser.

view_usage() {
  cat <<'TEXT'
usage: ./nbody view [--step STEP] [--port P] [OPTION OF A STEP...]
           runs a step and shows it in a browser while it runs, until --steps or Ctrl-C
       ./nbody view FILE... [--port P]
           shows files of bodies, one after the other
       ./nbody view FILE... --export PAGE.html
       ./nbody view --export PAGE.html [--frames K] [--step STEP] --steps I [OPTION OF A STEP...]
           writes a page that plays without this program and without a network

STEP is step10_tiled2d_cublas on a GPU and step00_cpu_omp elsewhere; K is 120; P is 8765, 0: any free one.
docs/view.md says what is on the page.
TEXT
}

# Sets view_program and view_step_program.
build_view() {
  local preset=cpu folder=build/tour step=$1
  if has_gpu && find_nvcc; then
    preset=cuda folder=build/tour-cuda
  fi
  if [ -z "$step" ]; then
    step=step00_cpu_omp
    [ $preset = cpu ] || step=step10_tiled2d_cublas
  fi
  [[ $step == step[0-9][0-9]*_* && -d $step ]] ||
    wrong_arguments "view: there is no step \"$step\"; there are $(echo step[0-9][0-9]*_*)"
  set_up view
  configure "$preset" "$folder" -DBUILD_TESTING=OFF
  compile "$folder" --target "$step" nbody-view
  view_program=$PWD/$folder/view/nbody-view
  view_step_program=$PWD/$folder/$step/$step
}

# How many steps a run to be exported takes: snapshots are spread over them.
steps_to_export() {
  local steps='' option previous=''
  for option in "$@"; do
    case $option in
      --snapshot-*) wrong_arguments "view: $option does not go with --export, which makes its own snapshots" ;;
    esac
    [ "$previous" != --steps ] || steps=$option
    previous=$option
  done
  [[ $steps =~ ^[1-9][0-9]{0,8}$ ]] || wrong_arguments "view: --export of a run needs --steps: a whole number from 1"
  echo "$steps"
}

# export_run PAGE EVERY OPTION...: a run with a snapshot every so many steps, as a page
export_run() {
  local page=$1 every=$2 folder
  shift 2
  folder=$(mktemp -d)
  # shellcheck disable=SC2064  # the folder of now
  trap "rm -rf '$folder'" EXIT
  "$view_step_program" "$@" --snapshot-every "$every" --snapshot-dir "$folder"
  "$view_program" "$folder"/snapshot_*.bin --export "$page"
}

run_view_command() {
  local port=8765 page='' frames=120 step='' steps='' files=no rest=()
  while [ $# -gt 0 ]; do
    case $1 in
      -h | --help) view_usage && return ;;
      --view) wrong_arguments "view: the port is given by --port" ;;
      --port | --export | --frames | --step)
        [ $# -ge 2 ] && [ -n "$2" ] || wrong_arguments "view: $1 needs a value"
        case $1 in
          --port) port=$2 ;;
          --export) page=$2 ;;
          --frames) frames=$2 ;;
          --step) step=$2 ;;
        esac
        shift 2
        ;;
      *) rest+=("$1") && shift ;;
    esac
  done
  [[ $frames =~ ^[1-9][0-9]{0,5}$ ]] || wrong_arguments "view: --frames: \"$frames\" is not allowed; a whole number from 1 to 999999"
  if [[ ${#rest[@]} -gt 0 && ${rest[0]} != -* ]]; then files=yes; fi
  if [ $files = no ] && [ -n "$page" ]; then steps=$(steps_to_export "${rest[@]}"); fi
  build_view "$step"
  cd "$OLDPWD"  # where the user stands: options name files
  if [ $files = yes ]; then
    if [ -n "$page" ]; then exec "$view_program" "${rest[@]}" --export "$page"; fi
    exec "$view_program" "${rest[@]}" --port "$port"
  fi
  if [ -n "$page" ]; then
    export_run "$page" $(((steps + frames - 1) / frames)) "${rest[@]}"
  else
    exec "$view_step_program" "${rest[@]}" --view "$port"
  fi
}
