import { PublishedApi } from './published-api.ts';
import { type Acted, serveApi } from './serve-api.ts';

export interface LoopbackNote {
  id: number;
  body: string;
  system: boolean;
  author: { id: number; username: string };
}

export interface LoopbackGitlab {
  url: string;
  notes: LoopbackNote[];
  faults: readonly string[];
  tokens: Set<string>;
  /** Commit of the merge request. */
  sha: string;
}

const own = { id: 8, username: 'project_77_bot' };

/** Serve the notes of one merge request as GitLab does, in pages. */
export async function loopbackGitlab(): Promise<LoopbackGitlab> {
  const api = await PublishedApi.read('gitlab');
  const state: LoopbackGitlab = { url: '', notes: [], faults: api.faults, tokens: new Set(), sha: '' };
  let last = 0;
  const act = (name: string, path: Record<string, string>, url: URL, body: string): Acted => {
    const found = state.notes.find(({ id }) => id === Number(path['note_id']));
    if (path['note_id'] !== undefined && found === undefined)
      return { status: 404, values: { message: '404 Not found' } };
    if (name.startsWith('POST')) {
      last += 1;
      const note = { id: last, body, system: false, author: own };
      state.notes.push(note);
      return { status: 201, values: note };
    }
    if (name.startsWith('PUT')) return { status: 200, values: Object.assign(found ?? {}, { body }) };
    if (name.startsWith('DELETE')) {
      state.notes = state.notes.filter((note) => note !== found);
      return { status: 204, values: undefined };
    }
    if (name.endsWith('/user')) return { status: 200, values: own };
    if (!name.endsWith('/notes')) return { status: 200, values: { iid: 7, sha: state.sha } };
    const size = Number(url.searchParams.get('per_page') ?? 20);
    const page = Number(url.searchParams.get('page') ?? 1);
    const isMore = state.notes.length > page * size;
    return {
      status: 200,
      values: state.notes.slice((page - 1) * size, page * size),
      headers: { 'x-next-page': isMore ? String(page + 1) : '' },
    };
  };
  const address = await serveApi(api, async (name, { path, url, sent, authorization }) => {
    state.tokens.add(authorization ?? '');
    return act(name, path, url, sent?.body ?? '');
  });
  state.url = `${address}/api/v4`;
  return state;
}
