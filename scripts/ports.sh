# Checks that ports are free. Sourced after toolchain.sh.
# shellcheck shell=bash

# Usage: require_free_port PORT ADVICE
require_free_port() {
  [[ $1 =~ ^[0-9]{1,5}$ ]] || fail "PORT must be a number, not \"$1\"."
  if (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; then
    fail "Port $1 is in use: $2"
  fi
}
