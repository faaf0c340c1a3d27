import { type Artifact, type ExperimentPath, openArtifact } from '../api/experiments.ts';
import { Button } from '../ui/controls/button.tsx';
import { attempt } from '../ui/states/notice.tsx';

/**
 * A PDF opens in a tab of its own, at the address of the storage. Browsers show none in a sandboxed frame, and the
 * policy of this page admits no other frame.
 */
export function PdfView({ path, artifact }: { path: ExperimentPath; artifact: Artifact }) {
  const show = () => {
    // A browser blocks a window that is opened after a request.
    const tab = window.open('', '_blank');
    if (tab !== null) tab.opener = null;
    return attempt(async () => {
      const response = await openArtifact(path, artifact.path, 1, { disposition: 'inline' });
      await response.body?.cancel();
      if (tab !== null) tab.location.href = response.url;
    }).then((isDone) => {
      if (!isDone) tab?.close();
    });
  };
  return (
    <div class="bar-row">
      <Button kind="primary" icon="open" onClick={show}>
        Show the PDF in a new tab
      </Button>
    </div>
  );
}
