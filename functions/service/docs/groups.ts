import { type Html, html } from '../../../shared/drawing/html.ts';
import type { ApiDocument } from './api-document.ts';
import { anchorOf, errorsPage, methodBadge, type Served } from './operation-view.ts';

/** The operations of a tag. Each group has its own page. */
export interface Group {
  /** Name of its page: `/?page=<id>`. */
  id: string;
  name: string;
  description: string;
  served: Served[];
}

export function groupsOf({ tags, paths }: ApiDocument): Group[] {
  const served = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, operation]): Served => ({ method: method.toUpperCase(), path, operation }),
    ),
  );
  return tags.map(({ name, description = '' }) => ({
    id: name.toLowerCase().replace(/[^a-z0-9]+/g, '-'),
    name,
    description,
    served: served.filter(({ operation }) => operation.tags.includes(name)),
  }));
}

/** Text of an operation for the search. */
export const searched = ({ method, path, operation }: Served): string =>
  [method, path, operation.operationId, operation.summary, operation.description]
    .concat(operation.parameters.map(({ name }) => name))
    .join(' ')
    .toLowerCase();

/** Headings of the guide that the contents list. */
const guideParts = [
  ['install', 'Install the command'],
  ['first-run', 'Train a folder'],
  ['mlflow', 'Keep your MLflow code'],
  ['commands', 'The command mps'],
  ['ci', 'In CI'],
  ['api', 'Call the API'],
] as const;

/**
 * The contents of every page: the guide, the groups and the errors. Only the parts of the open page are visible; a
 * search shows the others.
 *
 * @param page - id of the open group, `errors`, or undefined for the guide
 */
export function contents(groups: readonly Group[], page: string | undefined): Html {
  const current = (id: string | undefined) => (id === page ? html` aria-current="page"` : undefined);
  const parts =
    page === undefined
      ? html`<ul>${guideParts.map(([id, title]) => html`<li><a href="#${id}">${title}</a></li>`)}</ul>`
      : undefined;
  const lists = groups.map(({ id, name, served }) => {
    const isOpen = id === page;
    const target = isOpen ? '' : `?page=${id}`;
    const links = served.map(
      (one) =>
        html`<li data-search="${searched(one)}"><a href="${target}#${anchorOf(one.operation)}">${methodBadge(one.method)} <span>${one.operation.summary}</span></a></li>`,
    );
    return html`<section data-group><h2><a href="?page=${id}"${current(id)}>${name}</a></h2><ul${isOpen ? undefined : html` data-closed hidden`}>${links}</ul></section>`;
  });
  return html`<nav id="contents" aria-label="Contents"><section data-lasting><h2><a href="docs"${current(undefined)}>Guide</a></h2>${parts}</section>${lists}<section data-lasting><h2><a href="?page=${errorsPage}"${current(errorsPage)}>Errors</a></h2></section></nav>`;
}
