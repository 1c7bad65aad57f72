import { isJwt, isMixed, isReal, isToken } from './proofs.ts';

/**
 * A credential known by its beginning. Patterns are sticky and linear: every quantifier applies to one character class,
 * and all are bounded except where a look-behind makes sure that a run of characters is entered only once.
 */
export type SecretKind = {
  name: string;
  /** Literal beginnings, at least two characters each; what the scanner looks for. */
  starts: readonly string[];
  pattern: RegExp;
  proof: (found: string) => boolean;
};

type Extra = { proof?: (found: string) => boolean; before?: string; after?: string };

const TOKEN = '[A-Za-z0-9_-]';
const ALNUM = '[A-Za-z0-9]';
const HEX = '[0-9a-f]';

function kind(name: string, starts: string, rest: string, extra: Extra = {}): SecretKind {
  const words = starts.split(' ');
  const literals = words.map((word) => word.replaceAll('.', '\\.')).join('|');
  const pattern = new RegExp(
    `${extra.before ?? ''}(?:${literals})${rest}(?![A-Za-z0-9])${extra.after ?? ''}`,
    'y',
  );
  return { name, starts: words, pattern, proof: extra.proof ?? isReal };
}

/** Without the word list, so that Amazon's published example is refused too: it has the exact form of a key. */
const isAwsKey = (found: string): boolean => !/X{5}|0{8}/.test(found);
/** Where the length is open, dots say that the rest was left out; where it is fixed, the whole secret is there anyway. */
const UNCUT = '(?!\\.\\.|…)';
/** The start of a run of token characters, a few dashes aside: so a run is entered once, not again after every dash. */
const FRESH = '(?<=(?:^|[^A-Za-z0-9_-]|\\\\[nrt]|%[0-9A-Fa-f]{2})[_-]{0,3})';
const mixed = { proof: isToken, before: FRESH, after: UNCUT };

export const SECRET_KINDS: readonly SecretKind[] = [
  // Lanternroom itself
  kind('Lanternroom agent key', 'wk_test_ wk_live_', `${TOKEN}{16,128}`, mixed),
  kind('Lanternroom person token', 'lr_', `${ALNUM}{24,128}`, mixed),
  kind('Lanternroom caller token', 'ct_', `${ALNUM}{24,128}`, mixed),
  kind('webhook signing secret', 'whsec_', '[A-Za-z0-9+/_-]{20,128}', mixed),

  // Clouds
  kind('AWS access key id', 'AKIA ASIA', '[A-Z0-9]{16}', { proof: isAwsKey }),
  kind('Google API key', 'AIza', `${TOKEN}{33,38}(?![_-])`),
  kind('Google OAuth client secret', 'GOCSPX-', `${TOKEN}{24,40}`, mixed),
  kind('Google OAuth access token', 'ya29.', `${TOKEN}{20,250}`, mixed),
  kind('DigitalOcean token', 'dop_v1_ doo_v1_ dor_v1_', `${HEX}{64}`),
  kind('Heroku API key', 'HRKU-AA', `${TOKEN}{58}`),
  kind('Cloudflare origin CA key', 'v1.0-', `${HEX}{24}-${HEX}{146}`),
  kind('Databricks token', 'dapi', `${HEX}{32}(?:-\\d)?`),
  kind('Supabase token', 'sbp_ sb_secret_', `${TOKEN}{30,64}`, mixed),
  kind('PlanetScale token', 'pscale_tkn_ pscale_pw_ pscale_oauth_', `${TOKEN}{32,64}`, mixed),

  // Code and packages
  kind('GitHub token', 'ghp_ gho_ ghu_ ghs_ ghr_', `${ALNUM}{36,251}`),
  kind('GitHub fine-grained token', 'github_pat_', '[A-Za-z0-9_]{36,244}', mixed),
  kind(
    'GitLab token',
    'glpat- gloas- gldt- glrt- glcbt- glptt- glft- glimt- glagent- glwt- glsoat- glffct-',
    '[A-Za-z0-9_.-]{20,250}',
    mixed,
  ),
  kind('Bitbucket app password', 'ATBB', `${ALNUM}{32}`, mixed),
  kind('Atlassian token', 'ATATT3xFfG ATCTT3xFfG', `${TOKEN}{40,250}`, mixed),
  kind('npm token', 'npm_', `${ALNUM}{32,48}`),
  kind('PyPI token', 'pypi-AgE', `${TOKEN}{40,250}`, mixed),
  kind('RubyGems key', 'rubygems_', `${HEX}{48}`),
  kind('Docker Hub token', 'dckr_pat_ dckr_oat_', `${TOKEN}{27,40}`, mixed),
  kind('HashiCorp Vault token', 'hvs. hvb. hvr.', `${TOKEN}{24,250}`, mixed),
  kind('Pulumi token', 'pul-', `${HEX}{40}`),
  kind('Doppler token', 'dp.pt. dp.st. dp.sa. dp.ct.', '[A-Za-z0-9_.-]{40,64}', mixed),

  // Messages and money
  kind('Slack token', 'xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- xapp-', '[A-Za-z0-9-]{10,250}', mixed),
  kind('Slack webhook', 'hooks.slack.com/services/T', `${ALNUM}{6,14}/B${ALNUM}{6,14}/${ALNUM}{16,40}`),
  kind(
    'Discord webhook',
    'discord.com/api/webhooks/ discordapp.com/api/webhooks/',
    `\\d{17,20}/${TOKEN}{60,80}`,
  ),
  kind('Telegram bot token', 'AA', `${TOKEN}{33}(?![_-])`, {
    proof: isMixed,
    before: '(?<=(?<!\\d)\\d{8,10}:)',
  }),
  kind('Twilio API key', 'SK', `${HEX}{32}`),
  kind('Twilio account with auth token', 'AC', `${HEX}{32}:${HEX}{32}`),
  kind('SendGrid key', 'SG.', `${TOKEN}{16,32}\\.${TOKEN}{16,64}`, mixed),
  kind('Stripe key', 'sk_live_ rk_live_ sk_test_ rk_test_', `${ALNUM}{16,247}`, { after: UNCUT }),
  kind('Square token', 'sq0atp- sq0csp-', `${TOKEN}{22,43}`, mixed),
  kind('Shopify token', 'shpat_ shpca_ shppa_ shpss_', '[0-9a-fA-F]{32}'),

  // Models
  kind('Anthropic key', 'sk-ant-', `${TOKEN}{20,250}`, mixed),
  kind('OpenAI key', 'sk-proj- sk-svcacct- sk-admin-', `${TOKEN}{20,250}`, mixed),
  kind('OpenRouter key', 'sk-or-v1-', `${HEX}{64}`),
  kind('API key in the sk- form', 'sk-', `${ALNUM}{20,128}`, mixed),
  kind('Hugging Face token', 'hf_', `${ALNUM}{30,44}`),
  kind('Replicate token', 'r8_', `${ALNUM}{36,40}`),
  kind('Groq key', 'gsk_', `${ALNUM}{40,64}`),
  kind('xAI key', 'xai-', `${ALNUM}{60,100}`),
  kind('Perplexity key', 'pplx-', `${ALNUM}{40,64}`),

  // Work and watching
  kind('Linear key', 'lin_api_ lin_oauth_', `${ALNUM}{32,64}`),
  kind('Notion token', 'ntn_', '\\d{8,14}[A-Za-z0-9]{30,40}'),
  kind('Figma token', 'figd_', `${TOKEN}{36,64}`, mixed),
  kind('Postman key', 'PMAK-', `${HEX}{24}-${HEX}{34}`),
  kind('New Relic key', 'NRAK-', '[A-Z0-9]{27}', mixed),
  kind('Grafana token', 'glsa_', `${ALNUM}{32}_[0-9A-Fa-f]{8}`),
  kind('Grafana Cloud token', 'glc_eyJ', '[A-Za-z0-9+/_-]{30,250}', mixed),
  kind('Sentry token', 'sntryu_ sntrys_', '[A-Za-z0-9+/_-]{40,250}', mixed),
  kind('Tailscale key', 'tskey-', `[a-z]{3,12}-${ALNUM}{6,20}-${ALNUM}{16,48}`, mixed),

  // Formats of no one vendor
  kind('age secret key', 'AGE-SECRET-KEY-1', '[02-9AC-HJ-NP-Z]{58}'),
  kind('PuTTY private key', 'PuTTY-User-Key-File-', '[23]: (?:ssh|ecdsa)-[a-z0-9-]{3,40}'),
  kind('JSON Web Token', 'eyJ', `${TOKEN}{10,1024}\\.${TOKEN}{2,}\\.${TOKEN}{6,}`, {
    proof: isJwt,
    before: FRESH,
  }),
];
