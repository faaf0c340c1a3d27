import { acceptModel, type OnProgress, uploadModelFile } from '../../api/upload.ts';
import { UploadField } from '../../ui/controls/upload-field.tsx';

/** Fields to upload a model's data sets from this machine. */
export function SetUploads({ nameOf, onDone }: { nameOf: () => string; onDone?: () => Promise<void> }) {
  const send = (role: 'calibration' | 'evaluation') => async (file: File, onProgress: OnProgress) => {
    const model_name = nameOf();
    await uploadModelFile(model_name, role, file, onProgress);
    await acceptModel(model_name);
    await onDone?.();
  };
  return (
    <>
      <UploadField
        label="Calibration set (npz)"
        hint="Inputs for calibration."
        accept=".npz"
        onFile={send('calibration')}
      />
      <UploadField
        label="Evaluation set (npz)"
        hint="Inputs and labels for measuring accuracy."
        accept=".npz"
        onFile={send('evaluation')}
      />
    </>
  );
}
