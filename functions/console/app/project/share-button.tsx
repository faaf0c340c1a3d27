import { useState } from 'preact/hooks';
import { serviceUrl } from '../api/session.ts';
import { Button } from '../ui/controls/button.tsx';
import { Command } from '../ui/controls/copy.tsx';
import { Dialog } from '../ui/controls/dialog.tsx';
import { CheckField, SelectField } from '../ui/controls/field.tsx';
import { Form } from '../ui/controls/form.tsx';
import { TextField } from '../ui/controls/text-field.tsx';
import { addLink, type LinkSubject } from './link-calls.ts';

const days = { '1': 'a day', '7': 'a week', '30': '30 days', '365': 'a year' };

/**
 * Button that shares a part of a project by a link.
 * @param label says what, for a button without a text
 */
export function ShareButton({
  label,
  ...shared
}: {
  project_id: string;
  subject: LinkSubject;
  label?: string;
}) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      {label === undefined ? (
        <Button icon="out" onClick={() => setOpen(true)}>
          Share
        </Button>
      ) : (
        <Button kind="quiet" icon="out" label={label} onClick={() => setOpen(true)} />
      )}
      {isOpen && <ShareDialog {...shared} onClose={() => setOpen(false)} />}
    </>
  );
}

/** Dialog that makes a link to a part of a project. It shows the address once. */
function ShareDialog({
  project_id,
  subject,
  onClose,
}: {
  project_id: string;
  subject: LinkSubject;
  onClose: () => void;
}) {
  const [lifetime, setLifetime] = useState<keyof typeof days>('30');
  const [anonymous, setAnonymous] = useState(false);
  const [files, setFiles] = useState(false);
  const [hide, setHide] = useState('');
  const [url, setUrl] = useState<string>();
  const make = async () => {
    const names = hide.split(',').map((name) => name.trim());
    const { secret } = await addLink(project_id, {
      ...{ subject, anonymous, files },
      hide: names.filter((name) => name !== ''),
      expires_in: Number(lifetime) * 86_400,
    });
    setUrl(`${serviceUrl}/console#/s/${secret}`);
  };
  return (
    <Dialog title="Share by a link" onClose={onClose}>
      {url === undefined ? (
        <Form action="Make the link" onSubmit={make}>
          <SelectField label="Valid for" options={days} value={lifetime} onChoose={setLifetime} />
          {subject.kind === 'report' ? (
            <p class="soft small">
              Its text as it is written, and the experiments, sweeps and views that its blocks name now.
              Blocks that name others later stay hidden.
            </p>
          ) : (
            <>
              <CheckField
                hint="No users, commit, note and tags, nor what looks like a path or an address."
                checked={anonymous}
                onCheck={setAnonymous}
              >
                Anonymous
              </CheckField>
              <CheckField checked={files} onCheck={setFiles}>
                <span>Show the artifacts, too</span>
              </CheckField>
              <TextField
                label="Hide params"
                hint="Names, separated by commas."
                value={hide}
                onText={setHide}
              />
            </>
          )}
        </Form>
      ) : (
        <>
          <p>Whoever has this address sees it without an account. It is shown only now.</p>
          <Command>{url}</Command>
          <p class="soft small">The settings of the project list its links and revoke them.</p>
        </>
      )}
    </Dialog>
  );
}
