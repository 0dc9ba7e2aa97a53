/** An OpenID Connect provider with two people: the login name becomes the e-mail address, and `roles` comes from it. */
import { Provider } from 'oidc-provider';

const { PORT, CALLBACK } = process.env;
const ROLES = { ada: ['analyst', 'something else'], eve: ['nothing'] };

const provider = new Provider(`http://127.0.0.1:${PORT}`, {
  clients: [
    {
      client_id: 'pages',
      client_secret: 'a-secret-of-the-pages',
      redirect_uris: [CALLBACK],
      response_types: ['code'],
    },
  ],
  claims: { openid: ['sub', 'roles'], email: ['email', 'email_verified'] },
  conformIdTokenClaims: false,
  cookies: { keys: ['a-key-of-the-cookies'] },
  findAccount: (_context, id) => ({
    accountId: id,
    claims: () => ({ sub: id, email: `${id}@example.com`, email_verified: true, roles: ROLES[id] ?? [] }),
  }),
});
provider.listen(Number(PORT), '127.0.0.1', () => console.log('the provider is listening'));
