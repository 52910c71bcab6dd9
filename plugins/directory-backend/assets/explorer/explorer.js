/* global SwaggerUIBundle */

/** Options of curl for Kerberos authentication, which the samples lack. */
const NEGOTIATE = '--negotiate -u : ';

/** Adds Kerberos authentication to Swagger UI's samples without a token. */
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

/** Removes examples of optional parameters, which the form would send. */
function withoutExamples(parameters) {
  for (const parameter of parameters) {
    if (!parameter.required) {
      delete parameter.examples;
    }
  }
}

/**
 * Adapts the document to a form: optional fields are empty, and only the token
 * can be entered, because browsers perform Kerberos authentication themselves.
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
 * Repeats a request after a challenge: Chromium does not respond to the first
 * challenge in a new profile.
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
  // Does not contact other sites: the default validates at swagger.io.
  validatorUrl: null,
  presets: [SwaggerUIBundle.presets.apis],
  plugins: [negotiatingSamples, forms],
  layout: 'BaseLayout',
  requestSnippetsEnabled: true,
  requestInterceptor: request =>
    Object.assign(request, { userFetch: fetchWithTicket }),
});
