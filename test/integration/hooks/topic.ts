import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Credentials, sessionCredentials } from '../../../infra/local/access/session-credentials.ts';
import { SignatureError, verifySignature } from '../../../infra/local/access/verify-signature.ts';

const own: Credentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'a secret of the topic' };
const arn = 'arn:aws:sns:eu-central-1:111122223333:mps-hooks';

/**
 * A topic of SNS on this machine, as strict as SNS: it takes only `Publish` with a valid signature of its region, to its
 * own ARN, with a subject and a message within the limits that SNS publishes.
 */
export async function startTopic() {
  const mails: { subject: string; text: string }[] = [];
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const body = Buffer.concat(parts);
    const refuse = (status: number, code: string, message: string) =>
      void response.writeHead(status, { 'Content-Type': 'text/xml' }).end(errorText(code, message));
    const { method = '', url: path = '', headers } = request;
    try {
      verifySignature({ method, path, headers, body }, { region: 'eu-central-1', service: 'sns' }, own);
    } catch (error) {
      if (!(error instanceof SignatureError)) throw error;
      return refuse(403, error.code, error.message);
    }
    const { Action, Version, TopicArn, Subject, Message, ...others } = Object.fromEntries(
      new URLSearchParams(body.toString()),
    );
    if (
      method !== 'POST' ||
      Action !== 'Publish' ||
      Version !== '2010-03-31' ||
      Object.keys(others).length > 0
    )
      return refuse(400, 'InvalidAction', 'It is not a Publish of 2010-03-31.');
    if (TopicArn !== arn) return refuse(404, 'NotFound', 'Topic does not exist');
    if (Subject === undefined || !/^\P{C}{1,99}$/u.test(Subject))
      return refuse(400, 'InvalidParameter', 'Invalid parameter: Subject');
    if (Message === undefined || Message === '' || Buffer.byteLength(Message) > 262_144)
      return refuse(400, 'InvalidParameter', 'Invalid parameter: Message too long');
    mails.push({ subject: Subject, text: Message });
    response.writeHead(200, { 'Content-Type': 'text/xml' }).end('<PublishResponse/>');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const session = sessionCredentials(own, []);
  return {
    mails,
    host,
    arn,
    /** Variables of a function that may publish. */
    environment: {
      SNS_ENDPOINT: `http://${host}`,
      AWS_ACCESS_KEY_ID: session.accessKeyId,
      AWS_SECRET_ACCESS_KEY: session.secretAccessKey,
      AWS_SESSION_TOKEN: session.sessionToken,
    },
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

const errorText = (code: string, message: string): string =>
  `<ErrorResponse><Error><Code>${code}</Code><Message>${message}</Message></Error></ErrorResponse>`;
