// Loaded with `node --require` before a backend. Adds GET /routes, which lists
// every route below /api/directory as `method path`, as mounted by Express.
const http = require('node:http');

const { createServer } = http;
http.createServer = (...args) => {
  const app = args.pop();
  return createServer(...args, (req, res) => {
    if (req.url === '/routes') {
      res.end(JSON.stringify(routesOf(app._router.stack, '')));
    } else {
      app(req, res);
    }
  });
};

function routesOf(stack, mount) {
  return stack.flatMap(({ route, handle, regexp }) => {
    if (route) {
      return Object.keys(route.methods)
        .filter(method => method !== '_all')
        .flatMap(method =>
          [route.path].flat().map(path => `${method} ${mount}${path}`),
        );
    }
    const path = `${mount}${regexp.fast_slash ? '' : pathOf(regexp)}`;
    return handle.stack ? routesOf(handle.stack, path) : [];
  });
}

/**
 * Express 4 keeps only the expression of the path at which a router is mounted.
 */
function pathOf({ source }) {
  return source
    .replace(/^\^/, '')
    .replace(/\\\/\?\(\?=\\\/\|\$\)$/, '')
    .replaceAll('\\', '');
}
