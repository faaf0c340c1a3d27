import { CliError, exitCodes, refuseBoth } from '../../cli-error.ts';
import type { CliContext } from '../../context.ts';
import { ask, askPassword } from '../../login/ask.ts';
import { runningService } from '../../login/checkout.ts';
import { browserSignIn, deviceSignIn, hasIssuer } from '../../login/issuer-sign-in.ts';
import { localUrl, requireService, serviceUrl } from '../../login/service.ts';
import { days, keepGranted, signIn } from '../../login/sign-in.ts';
import { openInBrowser } from '../../output/open-in-browser.ts';
import { command } from '../command.ts';
import { choice } from '../flags.ts';

export const loginCommand = command({
  brief: 'Sign in and keep a token',
  help: `Where people sign in at an organization (--oidc-issuer), it opens your browser (BROWSER selects another), and saves a token of 12 hours; --device is for machines without a browser. Elsewhere, and with --user, it asks for user name and password, and saves a named token that only you can read. Without a terminal, the password is read from the first line of stdin. MPS_URL and MPS_TOKEN override the saved login.

Examples:
  mps login
  mps login https://abc.execute-api.eu-central-1.amazonaws.com/v1
  mps login https://… --device
  mps login --user ada < password-file`,
  args: [
    {
      brief: `Address of the service (MPS_URL, or ${localUrl})`,
      placeholder: 'URL',
      parse: String,
      optional: true,
    },
  ],
  flags: {
    user: {
      kind: 'parsed',
      parse: String,
      brief: 'Name of the user (default: ask)',
      optional: true,
    },
    days: {
      kind: 'parsed',
      parse: days,
      brief: 'Days until the login expires (default: 90)',
      optional: true,
    },
    device: choice('Sign in at your organization with a code that you confirm in any browser'),
  },
  async run({ user, days: lifetime, device }, given) {
    const url = serviceUrl(given ?? (this.env['MPS_URL'] || (await runningService(this.env)) || localUrl));
    if (device === true)
      refuseBoth({ user, days: lifetime, device }, 'A code signs in whoever confirms it, for 12 hours.');
    await requireService(url);
    if (device === true || (user === undefined && lifetime === undefined && (await hasIssuer(url))))
      return atIssuer(this, url, device === true);
    const isTerminal = this.process.stdin.isTTY === true;
    if (user === undefined && !isTerminal)
      throw new CliError('Name the user with --user, and pipe the password in.', exitCodes.usage);
    const username = user ?? (await ask(`User on ${url}: `));
    const password = await askPassword(this);
    const { account_type, expires_at } = await signIn({ url, username, password, days: lifetime }, this.env);
    this.printer.say(
      `Signed in to ${url} as ${username} (${account_type}) until ${expires_at.slice(0, 10)}.`,
    );
  },
});

/** Sign in at the issuer of a service, and save the token. */
async function atIssuer({ env, printer }: CliContext, url: string, isDevice: boolean): Promise<void> {
  const open = async (address: string) => {
    printer.say(`Sign in at ${address}`);
    if (!(await openInBrowser(address, env)))
      printer.say('Open this address in a browser of this machine, or use --device.');
  };
  const granted = isDevice
    ? await deviceSignIn(url, (text) => printer.say(text))
    : await browserSignIn(url, open);
  await keepGranted(url, granted, env);
  printer.say(`Signed in to ${url} as ${granted.username} (${granted.account_type}) for 12 hours.`);
}
