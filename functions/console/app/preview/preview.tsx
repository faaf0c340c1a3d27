import { useEffect, useState } from 'preact/hooks';
import { bytesText } from '../../../../shared/core/text/bytes-text.ts';
import { type Artifact, type ExperimentPath, openArtifact, readArtifact } from '../api/experiments.ts';
import { AudioPlayer } from '../media/audio-player.tsx';
import { EventsView } from '../media/lazy-events.ts';
import { Image } from '../ui/image.tsx';
import { lazy } from '../ui/states/lazy.tsx';
import { Problem } from '../ui/states/problem.tsx';
import { Skeleton } from '../ui/states/skeleton.tsx';
import { Markdown } from '../ui/text/markdown.tsx';
import { type FileKind, fileKind } from './file-kind.ts';
import { PdfView } from './pdf-view.tsx';
import { SourceSwitch } from './source-switch.tsx';

const TableFile = lazy(() => import('./table-file.tsx').then((module) => module.TableFile));
const HtmlView = lazy(() => import('./html-view.tsx').then((module) => module.HtmlView));

const pictureTypes: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  // An `img` element runs no scripts of an SVG and loads nothing from elsewhere.
  svg: 'image/svg+xml',
};
const maxPicture = 12_000_000;
const maxText = 262_144;
const maxHtml = 8_000_000;
const maxLine = 2_000;

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

async function readContent(kind: FileKind, path: ExperimentPath, artifact: Artifact): Promise<Content> {
  if (kind === 'picture') {
    const bytes = await (await openArtifact(path, artifact.path)).arrayBuffer();
    const ending = (/\.(\w+)$/.exec(artifact.path)?.[1] ?? '').toLowerCase();
    return { url: URL.createObjectURL(new Blob([bytes], { type: pictureTypes[ending] ?? 'image/png' })) };
  }
  const most = kind === 'html' ? maxHtml : maxText;
  const bytes = await (await openArtifact(path, artifact.path, most)).arrayBuffer();
  return { text: new TextDecoder().decode(bytes.slice(0, most)), isWhole: artifact.size <= most };
}

/** Names of what is drawn from text. */
const drawnNames: Readonly<Partial<Record<FileKind, string>>> = { html: 'Page', markdown: 'Page' };

const Shown = ({ kind, content, artifact }: { kind: FileKind; content: Content; artifact: Artifact }) => {
  const [isSource, setSource] = useState(false);
  if ('url' in content) return <Image class="preview-image" src={content.url} alt={artifact.path} />;
  const { text, isWhole } = content;
  const name = drawnNames[kind];
  return (
    <>
      {name !== undefined && <SourceSwitch name={name} isSource={isSource} onSwitch={setSource} />}
      {kind === 'html' && !isSource ? (
        <HtmlView text={text} name={artifact.path} />
      ) : kind === 'markdown' && !isSource ? (
        <Markdown text={text} />
      ) : (
        <pre class="text" tabIndex={0}>
          {cutLines(text)}
        </pre>
      )}
      {!isWhole && (
        <p class="soft small">
          The first {bytesText(kind === 'html' ? maxHtml : maxText)}. Download the file for the rest.
        </p>
      )}
    </>
  );
};

/** Preview of a file whose content fits into memory. It reads only the bytes that it shows. */
function ReadPreview({ path, artifact, kind }: { path: ExperimentPath; artifact: Artifact; kind: FileKind }) {
  const [content, setContent] = useState<Content>();
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    let url: string | undefined;
    let isGone = false;
    readContent(kind, path, artifact)
      .then((read) => {
        if ('url' in read) url = read.url;
        if (!isGone) return setContent(read);
        if (url !== undefined) URL.revokeObjectURL(url);
      })
      .catch((failure: unknown) => {
        if (!isGone) setError(failure);
      });
    return () => {
      isGone = true;
      if (url !== undefined) URL.revokeObjectURL(url);
    };
  }, [artifact.path, artifact.sha256]);
  if (error !== undefined) return <Problem error={error} what="The file could not be read" />;
  return content === undefined ? (
    <Skeleton rows={4} />
  ) : (
    <Shown kind={kind} content={content} artifact={artifact} />
  );
}

/** Preview of a file of an experiment. */
export function Preview({ path, artifact }: { path: ExperimentPath; artifact: Artifact }) {
  const kind = fileKind(artifact);
  const [isSource, setSource] = useState(false);
  if (artifact.size === 0) return <p class="soft">The file is empty.</p>;
  if (kind === 'none')
    return (
      <p class="soft">
        {/\.onnx$/i.test(artifact.path)
          ? 'An ONNX model. Register it as a model to inspect, prune and quantize it.'
          : 'This kind of file has no preview. Download it to look at it.'}
      </p>
    );
  if (kind === 'picture' && artifact.size > maxPicture)
    return <p class="soft">The picture is too large for a preview. Download it to look at it.</p>;
  if (kind === 'audio')
    return <AudioPlayer read={() => readArtifact(path, artifact.path)} label={artifact.path} />;
  if (kind === 'pdf') return <PdfView path={path} artifact={artifact} />;
  if (kind === 'events') return <EventsView path={path} file={artifact} />;
  if (kind === 'table' || kind === 'parquet' || kind === 'json')
    return (
      <TableFile
        path={path}
        artifact={artifact}
        kind={kind}
        isSource={isSource}
        sourceSwitch={<SourceSwitch name="Table" isSource={isSource} onSwitch={setSource} />}
      />
    );
  return <ReadPreview path={path} artifact={artifact} kind={kind} />;
}
