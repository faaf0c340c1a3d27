import { useEffect, useState } from 'preact/hooks';
import { bytesText } from '../../../../shared/core/text/bytes-text.ts';
import { type Artifact, type ExperimentPath, openArtifact } from '../api/experiments.ts';
import { Problem, Skeleton } from '../ui/parts.tsx';
import { Markdown } from '../ui/text/markdown.tsx';
import { rowsOf } from './csv.ts';

/** Kind of preview. No content ever runs: images are images, everything else is text. */
type Kind = 'image' | 'json' | 'table' | 'markdown' | 'text' | 'none';

const imageTypes: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  // An `img` element runs no scripts of an SVG and loads nothing from elsewhere.
  svg: 'image/svg+xml',
};
const textEndings = /\.(?:txt|log|ya?ml|toml|ini|cfg|py|js|ts|sh|xml|html?|css|rst|sql|out|err|conf|lock)$/i;
const maxImage = 12_000_000;
const maxText = 262_144;
const maxRows = 200;
const maxColumns = 40;
const maxLine = 2_000;

function kindOf({ path, media_type }: Artifact): Kind {
  const ending = (/\.(\w+)$/.exec(path)?.[1] ?? '').toLowerCase();
  if (ending in imageTypes) return 'image';
  if (ending === 'json' || ending === 'jsonl' || ending === 'ndjson') return 'json';
  if (ending === 'csv' || ending === 'tsv') return 'table';
  if (ending === 'md') return 'markdown';
  if (textEndings.test(path) || media_type.startsWith('text/')) return 'text';
  return 'none';
}

type Content = { url: string } | { text: string; isWhole: boolean };

/** Cut long lines, which would slow down the page's layout. */
const cutLines = (text: string): string =>
  text
    .split('\n')
    .map((line) =>
      line.length > maxLine
        ? `${line.slice(0, maxLine)}… (${(line.length - maxLine).toLocaleString('en')} more)`
        : line,
    )
    .join('\n');

function prettyJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

const count = (number: number): string => number.toLocaleString('en');

/** Describe the shown part of a table if it is not complete. */
function shownText(rows: number, columns: number, isWhole: boolean): string {
  const parts = [
    // The last row of a cut file may be incomplete.
    ...(rows > maxRows || !isWhole
      ? [`${count(Math.min(rows, maxRows))} of ${isWhole ? count(rows) : `more than ${count(rows)}`} rows`]
      : []),
    ...(columns > maxColumns ? [`${maxColumns} of ${count(columns)} columns`] : []),
  ];
  return parts.length === 0
    ? `${count(rows)} ${rows === 1 ? 'row' : 'rows'}.`
    : `The first ${parts.join(' and ')}. Download the file for the rest.`;
}

const Table = ({ text, separator, isWhole }: { text: string; separator: string; isWhole: boolean }) => {
  const all = rowsOf(text, separator);
  const [head = [], ...complete] = isWhole ? all : all.slice(0, -1);
  const rows = complete.slice(0, maxRows);
  const columns = Math.max(head.length, ...rows.map((row) => row.length));
  return (
    <>
      <p class="soft small">{shownText(complete.length, columns, isWhole)}</p>
      <div class="scroll-x preview-table" tabIndex={0} role="group" aria-label="Table">
        <table class="data">
          <thead>
            <tr>
              {head.slice(0, maxColumns).map((cell, index) => (
                <th key={index} scope="col">
                  <bdi>{cell}</bdi>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, index) => (
              <tr key={index}>
                {row.slice(0, maxColumns).map((cell, at) => (
                  <td key={at}>
                    <bdi>{cell.length > 200 ? `${cell.slice(0, 200)}…` : cell}</bdi>
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
};

const Shown = ({ kind, content, artifact }: { kind: Kind; content: Content; artifact: Artifact }) => {
  if ('url' in content) return <img class="preview-image" src={content.url} alt={artifact.path} />;
  const { text, isWhole } = content;
  return (
    <>
      {kind === 'table' ? (
        <Table text={text} separator={/\.tsv$/i.test(artifact.path) ? '\t' : ','} isWhole={isWhole} />
      ) : kind === 'markdown' ? (
        <Markdown text={text} />
      ) : (
        <pre class="text" tabIndex={0}>
          {cutLines(kind === 'json' && isWhole ? prettyJson(text) : text)}
        </pre>
      )}
      {!isWhole && kind !== 'table' && (
        <p class="soft small">The first {bytesText(maxText)}. Download the file for the rest.</p>
      )}
    </>
  );
};

/** Preview of a file. It reads only the bytes that it shows. */
export function Preview({ path, artifact }: { path: ExperimentPath; artifact: Artifact }) {
  const kind = kindOf(artifact);
  const isTooLarge = kind === 'image' && artifact.size > maxImage;
  const [content, setContent] = useState<Content>();
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    if (kind === 'none' || isTooLarge || artifact.size === 0) return;
    let url: string | undefined;
    let isGone = false;
    const load = async () => {
      if (kind === 'image') {
        const bytes = await (await openArtifact(path, artifact.path)).arrayBuffer();
        const ending = (/\.(\w+)$/.exec(artifact.path)?.[1] ?? '').toLowerCase();
        url = URL.createObjectURL(new Blob([bytes], { type: imageTypes[ending] ?? 'image/png' }));
        if (isGone) URL.revokeObjectURL(url);
        else setContent({ url });
        return;
      }
      const bytes = await (await openArtifact(path, artifact.path, maxText)).arrayBuffer();
      const text = new TextDecoder().decode(bytes.slice(0, maxText));
      if (!isGone) setContent({ text, isWhole: artifact.size <= maxText });
    };
    load().catch((failure: unknown) => {
      if (!isGone) setError(failure);
    });
    return () => {
      isGone = true;
      if (url !== undefined) URL.revokeObjectURL(url);
    };
  }, [artifact.path, artifact.sha256]);
  if (artifact.size === 0) return <p class="soft">The file is empty.</p>;
  if (kind === 'none')
    return (
      <p class="soft">
        {/\.onnx$/i.test(artifact.path)
          ? 'An ONNX model. Register it as a model to inspect, prune and quantize it.'
          : 'This kind of file has no preview. Download it to look at it.'}
      </p>
    );
  if (isTooLarge)
    return <p class="soft">The picture is too large for a preview. Download it to look at it.</p>;
  if (error !== undefined) return <Problem error={error} what="The file could not be read" />;
  return content === undefined ? (
    <Skeleton rows={4} />
  ) : (
    <Shown kind={kind} content={content} artifact={artifact} />
  );
}
