import { makeZip, predictLength } from 'client-zip';
import { type Artifact, type ExperimentPath, openArtifact } from '../api/experiments.ts';
import { saveBlob } from '../ui/save.ts';

/** Bytes that a browser without a file dialog is given. They pass through its memory. */
const maxInMemory = 2_000_000_000;

interface FileWindow {
  showSaveFilePicker?(options: { suggestedName: string }): Promise<{
    createWritable(): Promise<WritableStream<Uint8Array>>;
  }>;
}

/**
 * Save all files as one zip. The browser reads them one after another and writes what it has read, where it can
 * write files; else it collects the zip first. `onProgress` receives the fraction that is read.
 *
 * @throws Error if the files are too large for a browser that has to collect them
 */
export async function saveAll(
  path: ExperimentPath,
  artifacts: readonly Artifact[],
  name: string,
  onProgress: (fraction: number) => void,
): Promise<void> {
  const metadata = artifacts.map(({ path: file, size, created_at }) => ({
    name: file,
    size,
    lastModified: new Date(created_at),
  }));
  const total = Number(predictLength(metadata));
  const pick = (window as FileWindow).showSaveFilePicker?.bind(window);
  if (pick === undefined && total > maxInMemory)
    throw new Error('The files are too large for this browser. Fetch them with `mps pull`.');
  // Ask for the place first: browsers open the dialog only right after a click.
  const place = await pick?.({ suggestedName: `${name}.zip` }).then((file) => file.createWritable());
  let read = 0;
  async function* files() {
    for (const { path: file, created_at } of artifacts) {
      const response = await openArtifact(path, file);
      const counted = (response.body ?? new Blob([]).stream()).pipeThrough(
        new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
          transform(chunk, controller) {
            read += chunk.length;
            onProgress(total === 0 ? 1 : Math.min(1, read / total));
            controller.enqueue(chunk);
          },
        }),
      );
      yield { name: file, lastModified: new Date(created_at), input: counted };
    }
  }
  const zip = makeZip(files());
  if (place !== undefined) return zip.pipeTo(place);
  saveBlob(await new Response(zip as ReadableStream<Uint8Array<ArrayBuffer>>).blob(), `${name}.zip`);
}
