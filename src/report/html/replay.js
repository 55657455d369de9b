'use strict';
(async () => {
  const $ = id => document.getElementById(id);
  const text = JSON.parse($('s2s').textContent);
  const panel = $('replay');
  const encoder = new TextEncoder();
  const make = (tag, name, words) => {
    const node = document.createElement(tag);
    if (name) node.className = name;
    if (words != null) node.textContent = words;
    return node;
  };

  // SHA-256: the browser's own, or this one where the page is no secure context.
  function plainSha(bytes) {
    const constants = [], state = [];
    const fraction = x => (x - Math.floor(x)) * 4294967296 | 0;
    for (let p = 2; constants.length < 64; p++) {
      let prime = true;
      for (let d = 2; d * d <= p; d++) if (p % d === 0) { prime = false; break; }
      if (!prime) continue;
      if (state.length < 8) state.push(fraction(Math.sqrt(p)));
      constants.push(fraction(Math.cbrt(p)));
    }
    const length = bytes.length, padded = new Uint8Array((length + 72 >> 6) << 6);
    padded.set(bytes);
    padded[length] = 128;
    const view = new DataView(padded.buffer);
    view.setUint32(padded.length - 4, length * 8);
    view.setUint32(padded.length - 8, length / 536870912);
    const turn = (x, k) => x >>> k | x << 32 - k, w = new Int32Array(64);
    for (let at = 0; at < padded.length; at += 64) {
      for (let i = 0; i < 64; i++) {
        w[i] = i < 16 ? view.getInt32(at + i * 4)
          : (turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ w[i - 2] >>> 10) + w[i - 7]
            + (turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ w[i - 15] >>> 3) + w[i - 16];
      }
      let [a, b, c, d, e, f, g, h] = state;
      for (let i = 0; i < 64; i++) {
        const one = h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + (e & f ^ ~e & g) + constants[i] + w[i] | 0;
        const two = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + (a & b ^ a & c ^ b & c) | 0;
        h = g; g = f; f = e; e = d + one | 0; d = c; c = b; b = a; a = one + two | 0;
      }
      [a, b, c, d, e, f, g, h].forEach((x, i) => { state[i] = state[i] + x | 0; });
    }
    return state.map(x => (x >>> 0).toString(16).padStart(8, '0')).join('');
  }
  const sha = async words => {
    const bytes = encoder.encode(words);
    if (!self.crypto || !crypto.subtle) return plainSha(bytes);
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
    return [...digest].map(x => x.toString(16).padStart(2, '0')).join('');
  };

  // The subset of YAML that the program writes: block maps and lists, one-line texts, literal blocks.
  function read(source) {
    const lines = source.split('\n');
    let at = 0;
    const indent = line => line.length - line.trimStart().length;
    const scalar = v => v === '' || v === 'null' ? null : v[0] === '"' ? JSON.parse(v) : v === 'true' ? true
      : v === 'false' ? false : v === '[]' ? [] : v === '{}' ? {}
      : /^-?\d+(\.\d+)?([eE][-+]?\d+)?$/.test(v) ? +v : v;
    const block = (head, depth) => {
      const found = [];
      while (at < lines.length && (lines[at].trim() === '' || indent(lines[at]) >= depth)) found.push(lines[at++].slice(depth));
      const joined = found.join('\n');
      if (head.includes('-')) return joined.replace(/\n+$/, '');
      return head.includes('+') ? joined + '\n' : joined.replace(/\n*$/, '\n');
    };
    const value = (v, depth) => {
      if (/^\|[-+\d]*$/.test(v)) return block(v, depth + 2);
      if (v !== '') return scalar(v);
      while (at < lines.length && lines[at].trim() === '') at++;
      if (at < lines.length && (indent(lines[at]) > depth || indent(lines[at]) === depth && lines[at].trimStart().startsWith('- '))) {
        return node(indent(lines[at]));
      }
      return null;
    };
    const key = line => {
      const found = line.match(/^("(?:[^"\\]|\\.)*"|[^:]+):(?: (.*))?$/);
      return found && [found[1][0] === '"' ? JSON.parse(found[1]) : found[1], found[2] ?? ''];
    };
    const isItem = depth => lines[at].slice(depth).startsWith('- ') || lines[at].slice(depth) === '-';
    function node(depth) {
      if (isItem(depth)) {
        const items = [];
        while (at < lines.length && indent(lines[at]) === depth && isItem(depth)) {
          const rest = lines[at].slice(depth + 2);
          if (rest.startsWith('- ') || (rest[0] === '"' ? /^"(?:[^"\\]|\\.)*":/.test(rest) : key(rest))) {
            lines[at] = ' '.repeat(depth + 2) + rest;
            items.push(node(depth + 2));
          } else {
            at++;
            items.push(value(rest, depth));
          }
        }
        return items;
      }
      const map = {};
      while (at < lines.length && lines[at].trim() !== '' && indent(lines[at]) === depth) {
        const found = key(lines[at].slice(depth));
        if (!found) break;
        at++;
        map[found[0]] = value(found[1], depth);
      }
      return map;
    }
    return node(0);
  }

  // Texts that a later document may name instead of writing them again.
  const known = new Map(), wanted = new Set([...text.matchAll(/\$part ([0-9a-f]{64})$/gm)].map(found => found[1]));
  async function learn(body) {
    const lines = body.split('\n').slice(0, -1).map(line => line + '\n');
    const depth = line => line.length - line.replace(/^ +/, '').length;
    const offer = async part => {
      if (encoder.encode(part).length < 512) return;
      const name = await sha(part);
      if (wanted.has(name)) known.set(name, part);
    };
    for (let i = 0; i < lines.length; i++) {
      const own = depth(lines[i]), quote = lines[i].indexOf(': "');
      if (own <= 24 && lines[i].length >= 128) await offer(quote >= 0 ? lines[i].slice(quote + 2) : lines[i].slice(own));
      let below = i + 1;
      while (below < lines.length && (lines[below] === '\n' || depth(lines[below]) > own)) below++;
      if (below < i + 2 || lines[i].trim() === '') continue;
      const first = depth(lines[i + 1]), inner = lines.slice(i + 1, below);
      if (first <= own || first > 24) continue;
      if (inner.every(line => line === '\n' || line.trim() !== '' && depth(line) >= first)) {
        await offer(inner.map(line => line === '\n' ? line : line.slice(first)).join(''));
      }
    }
  }
  function whole(body) {
    if (!body.startsWith('--- # parts\n')) return body;
    return '---\n' + body.slice(12).split('\n').map(line => {
      const found = line.match(/\$part ([0-9a-f]{64})$/);
      if (!found) return line;
      if (!known.has(found[1])) throw new Error('a part is missing');
      const spaces = line.slice(0, line.length - line.replace(/^ +/, '').length);
      const inner = known.get(found[1]).replace(/\n$/, '').split('\n');
      return inner.map((one, i) => i === 0 ? line.slice(0, found.index) + one : one === '' ? one : spaces + one).join('\n');
    }).join('\n');
  }

  // The chain.
  const wrong = [], events = [], ends = /^hash: "?([0-9a-f]{64})"?\n(?=---( # parts)?\n|(?![\s\S]))/gm;
  let from = 0, before = '0'.repeat(64), found, number = 0;
  while ((found = ends.exec(text))) {
    const body = text.slice(from, found.index), hash = found[1];
    from = ends.lastIndex;
    if (await sha(body) !== hash) wrong.push('document ' + number + ': its hash does not fit');
    try {
      const event = read(whole(body).replace(/^---\n/, ''));
      if (wanted.size) await learn(body);
      if (event.seq !== number) wrong.push('document ' + number + ': it says it is number ' + event.seq);
      if (String(event.prev) !== before) wrong.push('document ' + number + ': it does not follow the one before');
      events.push(event);
    } catch {
      wrong.push('document ' + number + ': it cannot be read');
      break;
    }
    before = hash;
    number++;
  }
  if (from !== text.length) wrong.push('there are bytes after the last whole document, ' + (number - 1));
  if (before !== panel.dataset.hash) wrong.push('it does not end where this report says');

  // The hashes of the snapshots, and the counts of votes and stances.
  let snapshots = 0, counts = 0;
  const rounds = {};
  for (const event of events) {
    if (event.event === 'round_opened') {
      rounds[event.round] = { opened: event, answers: [] };
      snapshots++;
      if (await sha(event.snapshot) !== String(event.snapshot_sha256)) wrong.push('round ' + event.number + ': its snapshot');
    } else if (event.event === 'answer_revealed' && rounds[event.round]) {
      rounds[event.round].answers.push(event);
    } else if (event.event === 'tally_made' && rounds[event.round]) {
      const { opened, answers } = rounds[event.round], kind = opened.ballot.kind;
      const weighs = events[0].participants.some(seat => seat.weight !== 1);
      if (weighs || kind === 'choice' && !['plurality', 'majority', 'supermajority', 'unanimous'].includes(event.rule) || !['choice', 'consent'].includes(kind)) continue;
      const own = {};
      for (const answer of answers) {
        const ballot = answer.ballot && answer.ballot[kind];
        if (ballot != null) {
          const option = Array.isArray(ballot) ? ballot[0] : ballot;
          own[option] = (own[option] || 0) + 1;
        }
      }
      counts++;
      for (const option in event.scores) {
        if ((own[option] || 0) !== event.scores[option]) wrong.push('round ' + opened.number + ': the count of ' + option);
      }
    }
  }
  const count = (n, one, many = one + 's') => n + ' ' + (n === 1 ? one : many);
  const check = $('rp-check');
  check.className = 'rp-check ' + (wrong.length ? 'bad' : 'ok');
  check.textContent = wrong.length
    ? '✕ This record was changed: ' + wrong.slice(0, 3).join('; ') + (wrong.length > 3 ? ' …' : '')
    : '✓ Checked in your browser just now: ' + count(number, 'entry', 'entries') + ', chain unbroken; ' + count(snapshots, 'snapshot') + ' with the recorded hash; '
      + count(counts, 'count') + ' repeated. Last hash ' + before.slice(0, 16) + '…';

  // The steps.
  const steps = [];
  let round = null;
  const begun = events.length ? Date.parse(events[0].at) : 0;
  for (const event of events) {
    const at = (Date.parse(event.at) - begun) / 1000;
    const step = (say, type) => steps.push({ at, say, type, round, seat: event.participant, event });
    if (event.event === 'session_opened') step('The session opens: ' + event.participants.length + ' participants.', 'note');
    else if (event.event === 'round_opened') {
      round = { number: event.number, question: event.question, seats: event.seats };
      step('Round ' + event.number + ' opens. All ' + event.seats.length + ' seats get the same ' + event.snapshot_bytes + ' bytes.', 'open');
    } else if (event.event === 'ballot_sealed') step('An answer is sealed. Nobody can read it, nor see its length.', 'seal');
    else if (event.event === 'seat_failed') step(event.participant + ' failed: ' + event.reason, 'fail');
    else if (event.event === 'seat_excused') step(event.participant + ' is excused.', 'fail');
    else if (event.event === 'key_lost') step('The key of this round is lost, and with it what was sealed.', 'note');
    else if (event.event === 'round_closed') step('The round closes. The key is published.', 'note');
    else if (event.event === 'answer_revealed') step(event.participant + ' is revealed.', 'reveal');
    else if (event.event === 'tally_made') {
      const scores = Object.entries(event.scores || {}).map(one => one.join(' ')).join(', ');
      const what = event.decided ? 'Decided: ' + event.winners.join(', ') : event.reason ? 'No decision: ' + event.reason : 'Nothing to decide';
      step('Counted: ' + (scores ? scores + '. ' : '') + what + '.', 'note');
    } else if (event.event === 'approval_given') {
      step((event.choice || (event.approved ? 'Approved' : 'Rejected')) + ' by ' + event.by + (event.comment ? ': ' + event.comment : '.'), 'note');
    } else if (event.event === 'session_paused') step('The session pauses: ' + event.reason, 'note');
    else if (event.event === 'session_closed') step('The session is over: ' + event.status + '.', 'note');
  }
  const stances = { support: ['c-yes', '✓'], 'stand-aside': ['c-aside', '–'], block: ['c-no', '✕'] };
  const slider = $('rp-at'), stage = $('rp-stage'), play = $('rp-play');
  let now = 0, timer = 0;
  slider.max = Math.max(0, steps.length - 1);
  const vote = answer => {
    const ballot = answer.ballot;
    if (!ballot || typeof ballot !== 'object') return answer.outcome === 'answered' ? '' : answer.outcome;
    if (ballot.consent) return ballot.consent[0];
    if (ballot.ranking) return ballot.ranking.map(level => [].concat(level).join(' = ')).join(' > ');
    if (ballot.scores) return Object.entries(ballot.scores).map(one => one.join(' ')).join(', ');
    if (ballot.findings) return ballot.findings.map(one => one.claim).join(', ') || 'no findings';
    if (ballot.ideas) return ballot.ideas.map(one => one.title).join(', ');
    return String([].concat(ballot.choice ?? ballot.approval ?? ballot.estimate ?? '').join(', '));
  };
  function seatOf(name, state, isNow) {
    const item = make('li', state ? state.kind : 'wait');
    item.append(make('b', '', name));
    if (!state) item.append(make('span', '', 'is thinking …'));
    else if (state.kind === 'sealed') item.append(make('span', '', '▣ sealed'));
    else if (state.kind === 'failed') item.append(make('span', '', '! did not answer'));
    else {
      const said = vote(state.answer), stance = stances[said], head = make('span', 'op');
      if (stance) head.append(make('b', 'bd ' + stance[0], stance[1]));
      head.append(make('span', '', said.replace('-', ' ')));
      item.append(head);
      if (state.answer.answer && state.answer.answer.position) item.append(make('p', '', state.answer.answer.position));
    }
    if (isNow) item.classList.add('now');
    return item;
  }
  function show(to) {
    if (!steps.length) return;
    now = Math.max(0, Math.min(steps.length - 1, to));
    slider.value = now;
    const step = steps[now], states = {};
    for (const one of steps.slice(0, now + 1)) {
      if (one.round !== step.round) continue;
      if (one.type === 'seal') states[one.seat] = { kind: 'sealed' };
      if (one.type === 'fail') states[one.seat] = { kind: 'failed' };
      if (one.type === 'reveal') states[one.seat] = { kind: 'open', answer: one.event };
    }
    $('rp-say').textContent = step.say;
    $('rp-time').textContent = step.at.toFixed(1) + ' s · ' + (now + 1) + ' of ' + steps.length;
    slider.setAttribute('aria-valuetext', step.say);
    $('rp-q').textContent = step.round ? 'Round ' + step.round.number + ': ' + step.round.question : '';
    const seats = step.round ? step.round.seats.slice(0, 200) : [];
    stage.replaceChildren(...seats.map(name => seatOf(name, states[name], step.seat === name)));
  }
  const stop = () => { clearInterval(timer); timer = 0; play.textContent = '▶ Play'; };
  play.onclick = () => {
    if (timer) return stop();
    if (now === steps.length - 1) show(0);
    play.textContent = '❚❚ Pause';
    timer = setInterval(() => { if (now === steps.length - 1) return stop(); show(now + 1); }, 900);
  };
  $('rp-prev').onclick = () => { stop(); show(now - 1); };
  $('rp-next').onclick = () => { stop(); show(now + 1); };
  slider.oninput = () => { stop(); show(+slider.value); };
  panel.addEventListener('keydown', event => {
    if (event.target === slider) return;
    if (event.key !== 'ArrowRight' && event.key !== 'ArrowLeft') return;
    stop();
    show(now + (event.key === 'ArrowRight' ? 1 : -1));
    event.preventDefault();
  });
  $('rp-save').onclick = () => {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([text]));
    link.download = $('rp-save').dataset.name;
    link.click();
  };
  panel.hidden = false;
  show(0);
})();
