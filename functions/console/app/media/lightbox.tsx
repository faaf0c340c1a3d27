import { useEffect, useState } from 'preact/hooks';
import { type ExperimentPath, openArtifact } from '../api/experiments.ts';
import type { MediaItem } from '../api/media.ts';
import { Button } from '../ui/controls/button.tsx';
import { Dialog } from '../ui/controls/dialog.tsx';
import { Image } from '../ui/image.tsx';
import { follow } from '../ui/save.ts';
import { attempt } from '../ui/states/notice.tsx';
import { Problem } from '../ui/states/problem.tsx';
import { Skeleton } from '../ui/states/skeleton.tsx';
import { itemAt } from './steps.ts';

/** Picture in full size. Arrow keys go through the steps. */
export function Lightbox({
  path,
  label,
  items,
  step,
  onStep,
  onClose,
}: {
  path: ExperimentPath;
  label: string;
  items: readonly MediaItem[];
  step: number | undefined;
  onStep: (step: number) => void;
  onClose: () => void;
}) {
  const item = itemAt(items, step);
  const [shown, setShown] = useState<{ url: string; path: string }>();
  const [error, setError] = useState<unknown>();
  const file = item?.original ?? item?.path ?? '';
  useEffect(() => {
    let isGone = false;
    let url: string | undefined;
    openArtifact(path, file)
      .then((response) => response.blob())
      .then((blob) => {
        if (isGone) return;
        url = URL.createObjectURL(blob);
        setShown({ url, path: file });
        setError(undefined);
      })
      .catch((failure: unknown) => {
        if (!isGone) setError(failure);
      });
    return () => {
      isGone = true;
      if (url !== undefined) URL.revokeObjectURL(url);
    };
  }, [file]);
  if (item === undefined) return null;
  const at = items.indexOf(item);
  const goTo = (next: MediaItem | undefined) => {
    if (next?.step != null) onStep(next.step);
  };
  const download = () =>
    attempt(async () => {
      const response = await openArtifact(path, file, 1);
      await response.body?.cancel();
      follow(response.url, file.split('/').at(-1) ?? 'picture');
    });
  return (
    <Dialog
      title={item.step === null ? label : `${label}, step ${item.step.toLocaleString('en')}`}
      onClose={onClose}
      wide
    >
      <div
        class="lightbox"
        tabIndex={0}
        role="group"
        aria-label="Picture. Arrow keys go through the steps."
        onKeyDown={({ key }) => {
          if (key === 'ArrowRight') goTo(items[at + 1]);
          if (key === 'ArrowLeft') goTo(items[at - 1]);
        }}
      >
        {error !== undefined ? (
          <Problem error={error} what="The picture could not be read" />
        ) : shown === undefined ? (
          <Skeleton rows={4} />
        ) : (
          <Image src={shown.url} alt={label} class={shown.path === file ? '' : 'waiting'} />
        )}
      </div>
      <footer>
        {items.length > 1 && (
          <>
            <Button
              icon="left"
              label="Previous step"
              disabled={at === 0}
              onClick={() => goTo(items[at - 1])}
            />
            <Button
              icon="right"
              label="Next step"
              disabled={at === items.length - 1}
              onClick={() => goTo(items[at + 1])}
            />
          </>
        )}
        <Button icon="download" onClick={download}>
          Download
        </Button>
      </footer>
    </Dialog>
  );
}
