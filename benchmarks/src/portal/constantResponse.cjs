// The response for measuring limits: constant JSON of the length in the query,
// after a SPNEGO acceptance on the path `/accept`.

const { once } = require('node:events');
const { join } = require('node:path');

/** Loads modules of the portal, in whose folder this process was started. */
exports.requireFromPortal = name =>
  require(join(process.cwd(), 'node_modules', name));

const bodies = new Map();

function constantBody(url) {
  let body = bodies.get(url);
  if (!body) {
    const size = Number(/size=(\d+)/.exec(url)?.[1]);
    const text = 'x'.repeat(Math.max(0, size - '{"result":""}'.length));
    body = Buffer.from(JSON.stringify({ result: text }));
    bodies.set(url, body);
  }
  return body;
}

/** Reads a request and returns the body of the response, or `undefined`. */
exports.readBody = async (req, kerberos) => {
  if (req.method === 'POST') {
    // The form is ignored.
    req.resume();
    await once(req, 'end');
  }
  if (req.url.includes('/accept')) {
    const { outcome } = await kerberos.accept(req.headers.authorization);
    if (outcome !== 'accepted') {
      return undefined;
    }
  }
  return constantBody(req.url);
};
