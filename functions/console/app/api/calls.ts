import type { ListPage } from '../../../../shared/client/client.ts';
import type {
  AnswerOf,
  Called,
  RequestArguments,
  RequestOf,
  Route,
  RowOf,
} from '../../../../shared/client/route.ts';
import { client, noteFailure, person, serviceUrl } from './session.ts';

async function noted<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    noteFailure(error);
    throw error;
  }
}

/** Call an endpoint as the signed-in user. @throws as Client.call does */
export const call = <E extends Called>(
  route: Route<E>,
  ...request: RequestArguments<E>
): Promise<AnswerOf<E>> => noted(() => client().call<E>(route, ...request));

/** Return one page of a list. */
export const page = <E extends Called>(
  route: Route<E>,
  request: RequestOf<E>,
  next?: string,
): Promise<ListPage<RowOf<E>>> => noted(() => client().page<E>(route, request, next));

/** Return all rows of a list. Use it only for short lists. */
export const all = <E extends Called>(
  route: Route<E>,
  ...request: RequestArguments<E>
): Promise<RowOf<E>[]> => noted(() => Array.fromAsync(client().rows<E>(route, ...request)));

/** Return the answer as text of another media type. */
export const text = <E extends Called>(
  route: Route<E>,
  mediaType: string,
  ...request: RequestArguments<E>
): Promise<string> => noted(() => client().text<E>(route, mediaType, ...request));

/** Call an endpoint that redirects to bytes and return the response. */
export const open = <E extends Called>(route: Route<E>, ...request: RequestArguments<E>): Promise<Response> =>
  noted(() => client().open<E>(route, ...request));

/** Send JSON to an API of the service that other projects define, as the signed-in user. `path` has no leading slash. */
export const sendJson = (path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`${serviceUrl}/${path}`, {
    ...init,
    headers: {
      ...(person.value && { Authorization: `Session ${person.value.page_key}` }),
      'X-Requested-With': 'mps',
      'Content-Type': 'application/json',
    },
  });
