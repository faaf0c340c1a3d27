import { forgetEdits, waiting } from '../edits.ts';
import { Confirm } from './dialog.tsx';

/** The question whether what somebody has typed may be lost, while an action waits for the answer. */
export function EditsQuestion() {
  const present = waiting.value;
  if (present === undefined) return null;
  return (
    <Confirm
      title="Discard what you typed?"
      action="Discard"
      onConfirm={async () => {
        forgetEdits(present.around);
        present.act();
      }}
      onClose={() => (waiting.value = undefined)}
    >
      <p>It is not saved yet.</p>
    </Confirm>
  );
}
