import { ServiceError } from '../../core/service-error.ts';
import { originOf } from '../../data/accounts/ci-run.ts';
import { readCredentials } from '../../data/accounts/needs.ts';
import { authenticateSession } from '../../data/accounts/session.ts';
import { authenticateToken } from '../../data/accounts/token.ts';
import { requireScope, type ScopeRule } from '../../data/accounts/token-scope.ts';
import { accountTypes } from '../../data/accounts/user.ts';
import { recentReads } from '../../data/table/recent-reads.ts';
import type { TableReader } from '../../data/table/table.ts';
import { HttpError } from '../answer/http-error.ts';
import type { Identity } from '../definition/endpoint-context.ts';
import type { AnyEndpoint, Exchange, Middleware } from '../definition/middleware.ts';
import { headerOf } from './proxy-event.ts';
import { isSession, presentedSession } from './session-cookie.ts';

/**
 * Identify the caller. A token must be valid, unless the endpoint is public: a client that sends its old token
 * with every request can still sign in. If a token is sent, ignore cookies.
 */
export const authenticate: Middleware = async (exchange) => {
  const { endpoint, event } = exchange;
  if (endpoint.allow === 'anyone' && endpoint.permit === undefined) return;
  const authorization = headerOf(event, 'authorization');
  if (authorization === undefined) {
    if (endpoint.allow === 'anyone') return;
    throw unauthenticated(
      'Sign in with POST /auth/token and send the token as "Authorization: Bearer <token>".',
    );
  }
  const found = await identify(exchange, authorization);
  if (found === undefined) {
    const what = isSession(authorization) ? 'session' : 'token';
    throw unauthenticated(`The ${what} is unknown, expired or revoked. Sign in again.`, 'invalid_token');
  }
  const { user_id, username, account_type, credentials_version } = found.user;
  const { token_hash, session_id, token_id, scope } = found;
  exchange.caller = {
    user_id,
    username,
    account_type,
    credentials_version,
    token_hash,
    ...(session_id !== undefined && { session_id }),
    ...(token_id !== undefined && { token_id }),
    ...(scope !== undefined && { scope }),
    ...originOf(found),
  };
};

function unauthenticated(detail: string, error?: string): HttpError {
  const challenge = error === undefined ? 'Bearer' : `Bearer error="${error}"`;
  return new HttpError('unauthenticated', detail, { 'WWW-Authenticate': challenge });
}

const bearer = /^bearer +(\S+) *$/i;

/** Return the owner of the credentials; undefined if they are not valid. */
async function identify(exchange: Exchange, authorization: string): Promise<Identity | undefined> {
  const { endpoint, event, platform } = exchange;
  const token = bearer.exec(authorization)?.[1];
  if (token !== undefined) return authenticateToken(accountsFor(exchange), token, new Date());
  if (isSession(authorization)) return identifySession(exchange);
  const { sourceIp } = event.requestContext.identity;
  const identity = await endpoint.identify?.(authorization, { platform, sourceIp });
  if (identity !== undefined) return identity;
  throw unauthenticated('The Authorization header must be "Bearer <token>".', 'invalid_request');
}

/**
 * Return the reader for identifying the caller. It may return what this process has read within a second, except for an
 * endpoint that changes accounts: nobody makes a token with one that another process has just revoked. MLflow's endpoint
 * writes only the tokens of names and passwords.
 */
function accountsFor({ endpoint: { needs, identify }, platform }: Exchange): TableReader<'accounts'> {
  const accounts = readCredentials.open(platform);
  const changesAccounts = Object.values(needs).some(
    ({ resource, level }) => resource === 'accounts' && level === 'write',
  );
  return changesAccounts && identify === undefined ? accounts : recentReads(accounts);
}

/**
 * Identify the session of a browser by its cookie together with the key that the page keeps. A cookie alone is not
 * enough, because browsers also send it for pages of other origins. A write needs a header that a page of another
 * origin cannot send without a CORS preflight.
 */
async function identifySession(exchange: Exchange): Promise<Identity | undefined> {
  const { event, platform } = exchange;
  const { settings } = platform;
  const presented = presentedSession({ header: (name) => headerOf(event, name), settings });
  if (presented === undefined) return undefined;
  const isRead = event.httpMethod === 'GET' || event.httpMethod === 'HEAD';
  if (!isRead && headerOf(event, 'x-requested-with') === undefined) {
    const detail = 'Writes with a browser session need the header "X-Requested-With".';
    throw new ServiceError('forbidden', detail);
  }
  const found = await authenticateSession(accountsFor(exchange), presented, new Date());
  return found && { user: found.user, token_hash: found.session.hash, session_id: found.session.session_id };
}

/** Refuse callers whose account type has too few rights, and tokens whose scope is too narrow. */
export const authorize: Middleware = ({ endpoint, caller }) => {
  if (caller === undefined) return;
  requireScope(caller, scopeRule(endpoint));
  const { allow } = endpoint;
  if (allow === 'anyone') return;
  if (accountTypes.indexOf(caller.account_type) >= accountTypes.indexOf(allow)) return;
  throw new ServiceError(
    'forbidden',
    `This requires an account of type ${allow}; yours is ${caller.account_type}.`,
  );
};

/**
 * Return what an endpoint asks of a token with a scope. Unless it says so itself, it refuses one, save for a GET of a
 * project that every viewer may read.
 */
export function scopeRule({ method, path, project, right, keepsToProjects }: AnyEndpoint): ScopeRule {
  const isOfProject = path.includes('{project_id}');
  const isRead = method === 'GET' && isOfProject && (project === undefined || project === 'viewer');
  // The project of the path is compared with the scope by `requireProjectOfPath`.
  return { right: right ?? (isRead ? 'read' : 'none'), keepsToProjects: isOfProject || keepsToProjects };
}
