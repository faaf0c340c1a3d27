import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { tryParseJson } from '../../../../shared/core/text/try-parse-json.ts';
import { type Artifact, type ExperimentPath, openArtifact } from '../api/experiments.ts';
import { Problem } from '../ui/states/problem.tsx';
import { Skeleton } from '../ui/states/skeleton.tsx';
import { jsonText } from '../ui/text/json-text.ts';
import { MatrixTable } from './matrix-table.tsx';
import { cellOf, parseJsonTable, parseSeparated, type TableData } from './table-data.ts';

const maxBytes = 24_000_000;
const maxSource = 262_144;

/** Beginning of a file as text, for reading. */
interface Source {
  text: string;
  isWhole: boolean;
}

/** A table has no source where its file is not text. */
type Read = { table: TableData; source?: Source } | { table?: undefined; source: Source };

const prettyJson = (text: string): string => {
  const value = tryParseJson(text);
  return value === undefined ? text : jsonText(value);
};

async function readFile(
  path: ExperimentPath,
  artifact: Artifact,
  kind: 'table' | 'parquet' | 'json',
): Promise<Read> {
  if (kind === 'parquet') {
    const { parquetInWorker } = await import('./parquet-worker.ts');
    // A presigned URL is valid for 15 minutes. All parts are read from it.
    const first = await openArtifact(path, artifact.path, 1);
    await first.body?.cancel();
    const table = await parquetInWorker({
      byteLength: artifact.size,
      async slice(start, end = artifact.size) {
        const response = await fetch(first.url, { headers: { Range: `bytes=${start}-${end - 1}` } });
        if (!response.ok) throw new Error(`The storage answered ${response.status}.`);
        return response.arrayBuffer();
      },
    });
    return { table: { ...table, rows: table.rows.map((row) => row.map(cellOf)) } };
  }
  const bytes = await (await openArtifact(path, artifact.path, maxBytes)).arrayBuffer();
  const text = new TextDecoder().decode(bytes.slice(0, maxBytes));
  const isWhole = artifact.size <= maxBytes;
  const isShort = text.length <= maxSource;
  const isPretty = isShort && kind === 'json';
  const source = {
    text: isPretty ? prettyJson(text) : text.slice(0, maxSource),
    isWhole: isShort && isWhole,
  };
  if (kind === 'table')
    return { table: parseSeparated(text, /\.tsv$/i.test(artifact.path) ? '\t' : undefined, isWhole), source };
  const table = isWhole ? parseJsonTable(text) : undefined;
  return table === undefined ? { source } : { table, source };
}

const SourceText = ({ source: { text, isWhole } }: { source: Source }) => (
  <>
    <pre class="text" tabIndex={0}>
      {text}
    </pre>
    {!isWhole && <p class="soft small">The beginning. Download the file for the rest.</p>}
  </>
);

/** Table of a CSV, JSON or Parquet file; the text of JSON that is no table. */
export function TableFile({
  path,
  artifact,
  kind,
  isSource,
  sourceSwitch,
}: {
  path: ExperimentPath;
  artifact: Artifact;
  kind: 'table' | 'parquet' | 'json';
  isSource: boolean;
  /** Switch between the table and its source, for a file that is both. */
  sourceSwitch: ComponentChildren;
}) {
  const [read, setRead] = useState<Read>();
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    let isGone = false;
    readFile(path, artifact, kind).then(
      (found) => {
        if (!isGone) setRead(found);
      },
      (failure: unknown) => {
        if (!isGone) setError(failure);
      },
    );
    return () => {
      isGone = true;
    };
  }, [artifact.path, artifact.sha256]);
  if (error !== undefined) return <Problem error={error} what="The file could not be read" />;
  if (read === undefined) return <Skeleton rows={4} />;
  const { table, source } = read;
  return (
    <>
      {table !== undefined && source !== undefined && sourceSwitch}
      {table !== undefined && !(isSource && source !== undefined) ? (
        <MatrixTable table={table} />
      ) : (
        source !== undefined && <SourceText source={source} />
      )}
    </>
  );
}
