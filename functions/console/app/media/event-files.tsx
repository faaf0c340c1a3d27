import type { ExperimentPath } from '../api/experiments.ts';
import type { MediaItem } from '../api/media.ts';
import { EventsView } from './lazy-events.ts';

/** Pictures, sounds and histograms in the event files of a folder: in the newest ones. */
export const EventFiles = ({ path, files }: { path: ExperimentPath; files: readonly MediaItem[] }) => (
  <>
    {files.slice(-maxFiles).map((file) => (
      <EventsView key={file.path} isMedia path={path} file={file} />
    ))}
    {files.length > maxFiles && (
      <p class="soft small">The last {maxFiles} files. The others are below Artifacts.</p>
    )}
  </>
);

const maxFiles = 4;
