import { plural } from '../../ui/text/format.ts';
import { showLine } from './log-lines.tsx';
import type { LogSearch } from './log-search.ts';

/** What the page shows of a log. */
export function LogNote({
  find,
  search,
  found,
  place,
  shown,
  kept,
  dropped,
  isCut,
  isAll,
  onBegin,
}: {
  /** Text of the search. Empty without one. */
  find: string;
  /** Search of the service, if the page does not have all lines. */
  search: LogSearch | undefined;
  /** Number of lines that match the search and the level. */
  found: number;
  /** Place of the marked line among these, from 1; undefined if it is none of them. */
  place: number | undefined;
  /** Number of the marked line. */
  shown: number | undefined;
  /** Number of lines that the page has, and of those before them that it had. */
  kept: number;
  dropped: number;
  isCut: boolean;
  /** Whether lines of all levels are shown. */
  isAll: boolean;
  onBegin: () => void;
}) {
  const isSearch = find !== '';
  const of = `${isCut ? 'the last ' : ''}${plural(kept, 'line')}`;
  const isPart = isCut || dropped > 0;
  const line = shown?.toLocaleString('en') ?? '';
  return (
    <p class="table-note" role="status">
      {isSearch ? (
        <>
          {place !== undefined && `${place.toLocaleString('en')} of `}
          {search?.isFull === true && 'the first '}
          {plural(found, 'line')} with “<bdi>{find}</bdi>”
          {search !== undefined &&
            (search.isDone ? ' in the whole log' : ' so far; searching the whole log…')}
        </>
      ) : shown !== undefined && isPart ? (
        `Around line ${line}`
      ) : isAll ? (
        `${of.replace(/^the l/, 'L')}${isCut ? '. A search covers the whole log' : ''}`
      ) : (
        `${found.toLocaleString('en')} of ${of}`
      )}
      {isSearch && shown !== undefined && isPart && `; around line ${line}`}
      {shown !== undefined &&
        !isPart &&
        (shown <= kept ? `; line ${line} is marked` : `; there is no line ${line}`)}
      {dropped > 0 && `; ${plural(dropped, 'older line')} dropped; the download contains all`}
      {shown !== undefined ? (
        <Act onClick={() => showLine(undefined)}>
          {isSearch ? 'Show only the lines found' : 'Show the end'}
        </Act>
      ) : (
        isCut && !isSearch && <Act onClick={onBegin}>Read from the beginning</Act>
      )}
    </p>
  );
}

const Act = ({ children, onClick }: { children: string; onClick: () => void }) => (
  <>
    {' · '}
    <button type="button" class="as-link" onClick={onClick}>
      {children}
    </button>
  </>
);
