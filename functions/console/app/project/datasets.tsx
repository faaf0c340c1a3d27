import { useState } from 'preact/hooks';
import { bytesText } from '../../../../shared/core/text/bytes-text.ts';
import { type Dataset, loadDatasets } from '../api/files.ts';
import { uploadDataset } from '../api/upload.ts';
import { useLive } from '../api/use-live.ts';
import { TextField } from '../ui/controls/text-field.tsx';
import { UploadField } from '../ui/controls/upload-field.tsx';
import { Loaded } from '../ui/states/loaded.tsx';
import { Ago } from '../ui/text/ago.tsx';

const nameOf = (file: string): string =>
  file
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 128);

/** Data sets of a project. With `onChoose`, the user can select one. */
export function Datasets({
  project_id,
  mayChange,
  chosen,
  onChoose,
}: {
  project_id: string;
  mayChange: boolean;
  chosen?: string | undefined;
  onChoose?: (dataset: string | undefined) => void;
}) {
  const live = useLive(`datasets/${project_id}`, () => loadDatasets(project_id));
  const [name, setName] = useState('');
  const row = ({ dataset, size, format, sha256, updated_at }: Dataset) => (
    <tr key={dataset}>
      {onChoose && (
        <td>
          <input
            type="radio"
            name="dataset"
            aria-label={`Use ${dataset}`}
            checked={chosen === dataset}
            onChange={() => onChoose(dataset)}
          />
        </td>
      )}
      <th scope="row">
        <bdi>{dataset}</bdi>
      </th>
      <td class="right">{bytesText(size)}</td>
      <td>{format}</td>
      <td>
        <code title={sha256}>{sha256.slice(0, 10)}</code>
      </td>
      <td class="right">
        <Ago time={updated_at} />
      </td>
    </tr>
  );
  return (
    <>
      <Loaded live={live} rows={2} what="The data sets could not be loaded">
        {(datasets) =>
          datasets.length === 0 ? (
            <p class="soft small">
              None yet. A training finds its data set in the folder DATA_DIR. Many trainings need none.
            </p>
          ) : (
            <div class="scroll-x">
              <table class="data">
                <tbody>
                  {onChoose && (
                    <tr>
                      <td>
                        <input
                          type="radio"
                          name="dataset"
                          aria-label="No data set"
                          checked={chosen === undefined}
                          onChange={() => onChoose(undefined)}
                        />
                      </td>
                      <th scope="row" colSpan={5}>
                        No data set
                      </th>
                    </tr>
                  )}
                  {datasets.map(row)}
                </tbody>
              </table>
            </div>
          )
        }
      </Loaded>
      {mayChange && (
        <div class="upload-row">
          <TextField
            label="Name of a new data set, or a new version of one"
            hint="Default: the name of the file."
            value={name}
            onText={setName}
          />
          <UploadField
            label="Choose a file, or drop it here"
            hint="An archive (tar.gz, tar, zip) is unpacked for the training."
            onFile={async (file, onProgress) => {
              const dataset = name.trim() || nameOf(file.name);
              await uploadDataset(project_id, dataset, file, onProgress);
              await live.refresh();
              onChoose?.(dataset);
            }}
          />
        </div>
      )}
    </>
  );
}
