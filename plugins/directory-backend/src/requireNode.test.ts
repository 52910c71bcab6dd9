import { engines } from '../package.json';

const { versions } = process;

beforeEach(() => {
  jest.resetModules();
});

afterEach(() => {
  Object.defineProperty(process, 'versions', { value: versions });
});

/** Loads a module with a version of Node.js. */
function loadWith(node: string, module: string): unknown {
  Object.defineProperty(process, 'versions', { value: { ...versions, node } });
  return require(module);
}

describe('requireNode', () => {
  it.each(['18.20.8', '20.20.2', '22.18.0', '23.11.1', '25.0.0'])(
    'refuses to load the plugin with Node.js %s',
    node => {
      expect(() => loadWith(node, '.')).toThrow(
        `requires Node.js ${engines.node}, but this is ${node}`,
      );
    },
  );

  it.each(['22.19.0', '22.21.1', '24.0.0', '24.21.0'])(
    'accepts Node.js %s',
    node => {
      expect(() => loadWith(node, './requireNode')).not.toThrow();
    },
  );
});
