/* global SwaggerUIBundle */

const { requestSnippetGenerator_curl_bash: writeCurl } =
  SwaggerUIBundle.plugins.RequestSnippets().fn;

/** The contract's own samples lack what makes curl present a ticket. */
function negotiatingCurl() {
  return {
    fn: {
      requestSnippetGenerator_curl_bash(request) {
        const command = writeCurl(request);
        return /\bauthorization: /i.test(command)
          ? command
          : command.replace(/^curl /, 'curl --negotiate -u : ');
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
  plugins: [negotiatingCurl],
  layout: 'BaseLayout',
  requestSnippetsEnabled: true,
  requestSnippets: {
    generators: { curl_bash: { title: 'curl', syntax: 'bash' } },
    defaultExpanded: true,
  },
  requestInterceptor: request =>
    Object.assign(request, { userFetch: fetchWithTicket }),
});
