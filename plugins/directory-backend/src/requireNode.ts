import { engines } from '../package.json';

// Loaded before other modules: without this check, an unsupported version may
// fail to load one of them, or fail only when a certificate is returned.
const [major, minor] = process.versions.node.split('.').map(Number);
const isSupported = engines.node.split(' || ').some(range => {
  const [requiredMajor, requiredMinor = 0] = range
    .replace('^', '')
    .split('.')
    .map(Number);
  return major === requiredMajor && minor >= requiredMinor;
});
if (!isSupported) {
  throw new Error(
    `The directory plugin requires Node.js ${engines.node}, but this is ${process.versions.node}. Start the portal with a supported version.`,
  );
}
