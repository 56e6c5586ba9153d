/* global SwaggerUIBundle */
// The script of the API reference page. It runs in browsers.

const lang = new URLSearchParams(location.search).get('lang');

/** The scheme of the document that the token of a log-in belongs to. */
const schemeOfLogin = { '/api/auth/login': 'shopper', '/admin/api/auth/login': 'staff' };

/** Finds operations by summary, path, name and description. Without it the page searches tags and paths. */
const searchPlugin = () => ({
  fn: {
    opsFilter(taggedOperations, phrase) {
      const words = phrase.toLowerCase().split(/\s+/).filter(Boolean);
      const found = (entry, tag) => {
        const operation = entry.get('operation');
        const texts = [tag, entry.get('method'), entry.get('path')];
        for (const name of ['summary', 'operationId', 'description']) texts.push(operation?.get(name) ?? '');
        const text = texts.join(' ').toLowerCase();
        return words.every((word) => text.includes(word));
      };
      return taggedOperations
        .map((tagged, tag) =>
          tagged.set(
            'operations',
            tagged.get('operations').filter((entry) => found(entry, tag)),
          ),
        )
        .filter((tagged) => tagged.get('operations').size > 0);
    },
  },
});

const page = SwaggerUIBundle({
  url: lang ? `/openapi.json?lang=${encodeURIComponent(lang)}` : '/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'list',
  filter: true,
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  persistAuthorization: true,
  validatorUrl: null,
  plugins: [searchPlugin],
  responseInterceptor(response) {
    const scheme = schemeOfLogin[new URL(response.url, location.href).pathname];
    const token = scheme && response.body?.data?.token;
    if (token) page.preauthorizeApiKey(scheme, token);
    return response;
  },
});
