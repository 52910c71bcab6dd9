/* global SwaggerUIBundle */

/** What makes curl present a ticket, which the samples lack. */
const NEGOTIATE = '--negotiate -u : ';

/** Swagger UI's samples for its shells, each with a ticket or with a token. */
function negotiatingSamples() {
  const { fn } = SwaggerUIBundle.plugins.RequestSnippets();
  const wrapped = Object.entries(fn).map(([name, write]) => [
    name,
    request => {
      const command = write(request);
      return /\bauthorization: /i.test(command)
        ? command
        : command.replace(/^curl(\.exe)? /, curl => `${curl}${NEGOTIATE}`);
    },
  ]);
  return { fn: Object.fromEntries(wrapped) };
}

/** Examples of what may be left out would be sent by whoever just tries. */
function withoutExamples(parameters) {
  for (const parameter of parameters) {
    if (!parameter.required) {
      delete parameter.examples;
    }
  }
}

/**
 * The document as a form: nothing optional is filled in, and of what one can
 * be authorized with only the token is asked for, because a browser presents
 * its ticket by itself.
 */
function asForm(document) {
  const form = structuredClone(document);
  const { parameters = {}, securitySchemes = {} } = form.components ?? {};
  const operations = Object.values(form.paths).flatMap(Object.values);
  withoutExamples(Object.values(parameters));
  for (const operation of operations) {
    withoutExamples(operation.parameters ?? []);
  }
  delete securitySchemes.negotiate;
  form.security = form.security?.filter(scheme => !('negotiate' in scheme));
  return form;
}

function forms() {
  return {
    statePlugins: {
      spec: {
        wrapActions: {
          updateJsonSpec: update => document => update(asForm(document)),
        },
      },
    },
  };
}

/**
 * Asks once more after a challenge: in a fresh profile Chromium leaves the
 * first one unanswered.
 */
async function fetchWithTicket(url, request) {
  const response = await fetch(url, request);
  const isChallenge =
    response.status === 401 &&
    response.headers.get('WWW-Authenticate') === 'Negotiate';
  return isChallenge ? fetch(url, request) : response;
}

SwaggerUIBundle({
  url: new URL('../../specs/v1.json', document.baseURI).href,
  dom_id: '#explorer',
  deepLinking: true,
  displayRequestDuration: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  // Nothing is sent elsewhere: the default asks swagger.io.
  validatorUrl: null,
  presets: [SwaggerUIBundle.presets.apis],
  plugins: [negotiatingSamples, forms],
  layout: 'BaseLayout',
  requestSnippetsEnabled: true,
  requestInterceptor: request =>
    Object.assign(request, { userFetch: fetchWithTicket }),
});
