# Functions shared by .ci/run and .ci/nightly. Source this file in bash.

export SEQTAG_CORPORA=${SEQTAG_CORPORA:-$PWD/../shared/corpora} # tests that need it are skipped if it is missing
unset PYTHONPATH SEQTAG_BACKEND SEQTAG_VECTORS

# fresh_copy: copy the tracked files to a temporary folder and change to it; delete it at exit.
fresh_copy() {
  temporary=$(mktemp -d)
  trap '{ kill $(jobs -p) || true; } 2>/dev/null; rm -rf "$temporary"' EXIT
  copy=$temporary/seqtag
  mkdir "$copy"
  if tracked=$(git ls-files 2>/dev/null) && [ -n "$tracked" ]; then
    git ls-files -z | tar --create --null --files-from=- | tar --extract --directory="$copy"
    git init --quiet "$copy" && git -C "$copy" add --all --force
  else # an unpacked sdist
    tar --create --exclude=./.venv --exclude=./build . | tar --extract --directory="$copy"
  fi
  cd "$copy"
}

# step COMMAND...: print a command, run it without standard input, and print its duration.
step() {
  local began=$SECONDS status=0
  echo "+ $*"
  "$@" </dev/null || status=$?
  echo "= $((SECONDS - began)) s"
  return $status
}

# quick_start N: print the command of the Nth block of the README's quick start.
quick_start() {
  awk -v wanted="$1" '/^## / {on = /^## Quick start/} on && /^```sh$/ {block++; inside = 1; next}
                      /^```$/ {inside = 0} on && inside && block == wanted' README.md
}

# install_extras EXTRA...: install the libraries of extras. The names come from the metadata of the
# installed package, so pip neither rebuilds seqtag nor downloads a package of that name.
install_extras() {
  local tools
  tools=$(.venv/bin/python - "$@" <<'PYTHON'
import sys
from importlib.metadata import requires
from packaging.requirements import Requirement
for each in map(Requirement, requires("seqtag-perceptron")):
    if each.marker and any(each.marker.evaluate({"extra": extra}) for extra in sys.argv[1:]):
        extras = "[" + ",".join(each.extras) + "]" if each.extras else ""
        print(f"{each.name}{extras}{each.specifier}")
PYTHON
  )
  step .venv/bin/pip install -q $tools
}
