import { PublishedApi } from './published-api.ts';
import { type Acted, serveApi } from './serve-api.ts';

export interface LoopbackComment {
  id: number;
  body: string;
  user: { login: string; type: string };
}

/** Behaviour that a test changes. */
export interface LoopbackGithub {
  url: string;
  comments: LoopbackComment[];
  /** Requests against GitHub's published schemas, and answers of the loopback. */
  faults: readonly string[];
  requests: { method: string; path: string; authorization: string | undefined }[];
  /** Commit of the pull request. */
  head: string;
  /** Whether the token only reads, as in pull requests of forks. */
  readOnly: boolean;
  /** Answers of a secondary rate limit that are still to come before writes. */
  limits: number;
  /** The user behind the token; undefined for that of a job, which has no name that it may read. */
  login: string | undefined;
}

const bot = { login: 'github-actions[bot]', type: 'Bot' };

/** Serve the comments of one pull request as GitHub does, with pages, rights and limits. */
export async function loopbackGithub(): Promise<LoopbackGithub> {
  const api = await PublishedApi.read('github');
  const state: LoopbackGithub = {
    ...{ url: '', comments: [], faults: api.faults, requests: [], head: '' },
    ...{ readOnly: false, limits: 0, login: undefined },
  };
  let last = 0;
  const act = (name: string, path: Record<string, string>, url: URL, body: string): Acted => {
    const at = state.comments.findIndex(({ id }) => id === Number(path['comment_id']));
    const isWrite = !name.startsWith('GET');
    if (isWrite && state.readOnly)
      return { status: 403, values: { message: 'Resource not accessible by integration' } };
    if (isWrite && state.limits > 0) {
      state.limits -= 1;
      return {
        status: 403,
        values: { message: 'You have exceeded a secondary rate limit' },
        headers: { 'retry-after': '0' },
      };
    }
    if (body.length > 65_536)
      return { status: 422, values: { message: 'Validation Failed', documentation_url: '', errors: [] } };
    const user = state.login === undefined ? bot : { login: state.login, type: 'User' };
    switch (name.split(' ')[0]) {
      case 'POST': {
        last += 1;
        const comment = { id: last, body, user };
        state.comments.push(comment);
        return { status: 201, values: comment };
      }
      case 'PATCH': {
        const comment = state.comments[at];
        if (comment === undefined) return { status: 404, values: { message: 'Not Found' } };
        comment.body = body;
        return { status: 200, values: comment };
      }
      case 'DELETE':
        if (at < 0) return { status: 404, values: { message: 'Not Found' } };
        state.comments.splice(at, 1);
        return { status: 204, values: undefined };
    }
    if (name.endsWith('/user'))
      return state.login === undefined
        ? { status: 403, values: { message: 'Resource not accessible by integration' } }
        : { status: 200, values: { login: state.login } };
    if (name.endsWith('/pulls')) return { status: 200, values: [{ number: 7, head: { sha: state.head } }] };
    if (name.endsWith('{pull_number}')) return { status: 200, values: { head: { sha: state.head } } };
    const size = Number(url.searchParams.get('per_page') ?? 30);
    const page = Number(url.searchParams.get('page') ?? 1);
    const isMore = state.comments.length > page * size;
    return {
      status: 200,
      values: state.comments.slice((page - 1) * size, page * size),
      headers: isMore ? { link: `<${state.url}${url.pathname}?page=${page + 1}>; rel="next"` } : {},
    };
  };
  state.url = await serveApi(api, async (name, { path, url, sent, authorization }) => {
    const [method = ''] = name.split(' ');
    state.requests.push({ method, path: url.pathname, authorization });
    return act(name, path, url, sent?.body ?? '');
  });
  return state;
}
