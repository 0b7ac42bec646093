"""The function that appends a batch of entries inside the database, in one statement.

It does the plain case of `store.logic.append` and returns the history's row after each append that it made. It leaves
an append alone, with all later ones of that history, where the history is not there or has another layout, where
`ifVersion` is not met, where the operation is remembered already, and where a shown log holds an entry key already.

Rules:
- The first statement locks the history's row, the second sees what was committed before it began: nobody comes
  between a check and the write that rests on it.
- It runs with the rights of its caller, who needs none beyond those on the tables.
- Arguments come as arrays: one element per append, or (`shown`, and `keys` to `bodies`) one run of elements per append.
  `grown` are the estimates of each append, `upto` those up to each of its entries. There is no NULL in them: `''` is
  no actor or operation id, -1 no expected version.
- The plan is made once: PostgreSQL would plan it anew for every call, for half of the time that a call takes
  (measured), and without scans of whole tables, since what is small now will grow.
"""

from __future__ import annotations

from sidecar.store.buffered import FORGET_EVERY
from sidecar.store.transaction import REMEMBERED

APPEND_ENTRIES = f"""
CREATE FUNCTION append_entries(
  by bigint, names text[], hids bigint[], layouts bigint[], expected bigint[], kinds text[], times bigint[],
  actors text[], operation_ids text[], digests bytea[], id_lists text[], sizes bigint[], grown bigint[],
  shown_sizes bigint[], shown bigint[], keys bigint[], roles bigint[], estimates bigint[], upto bigint[],
  measures bytea[], bodies bytea[]
) RETURNS SETOF history LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
DECLARE
  old history;
  new history;
  refused bigint[] := '{{}}';
  first integer;
  last integer := 0;
  shown_first integer;
  shown_last integer := 0;
BEGIN
  FOR i IN 1 .. array_length(names, 1) LOOP
    first := last + 1;
    last := last + sizes[i];
    shown_first := shown_last + 1;
    shown_last := shown_last + shown_sizes[i];
    CONTINUE WHEN hids[i] = ANY(refused);
    SELECT * INTO old FROM history h
      WHERE h.hid = hids[i] AND h.name = names[i] AND h.live = 1 AND h.layout = layouts[i]
        AND expected[i] IN (-1, h.version) FOR UPDATE;
    IF FOUND THEN
      WITH free AS MATERIALIZED (
        SELECT WHERE NOT EXISTS(SELECT FROM entry e WHERE e.key = ANY(shown[shown_first : shown_last]))
          AND NOT EXISTS(SELECT FROM operation o WHERE o.name = names[i] AND o.operation_id = operation_ids[i])
      ), added AS (
        INSERT INTO entry
          SELECT old.hid << 32 | (old.tail + u.n), u.key, old.layout, old.marks, u.role, u.estimate,
            old.cumulative + u.upto, u.measure, u.body, NULL
          FROM free, unnest(keys[first : last], roles[first : last], estimates[first : last], upto[first : last],
            measures[first : last], bodies[first : last])
            WITH ORDINALITY AS u(key, role, estimate, upto, measure, body, n)
      ), told AS (
        INSERT INTO change(hid, version, previous, kind, layout, len, marks, at, writer, actor, operation_id)
          SELECT old.hid, old.version + 1, old.version, kinds[i], old.layout, old.len + sizes[i], old.marks, times[i],
            by, nullif(actors[i], ''), nullif(operation_ids[i], '') FROM free
      ), remembered AS (
        INSERT INTO operation(name, operation_id, digest, result, at)
          SELECT names[i], operation_ids[i], digests[i], convert_to(concat(
            '{{"head":{{"history":', to_json(old.name), ',"version":', old.version + 1, ',"len":', old.len + sizes[i],
            ',"estimate":', old.estimate + grown[i], ',"created_at":', old.created_at, ',"updated_at":', times[i],
            ',"title":' || old.title, ',"tags":' || old.tags, ',"metadata":' || old.metadata,
            ',"baseline":{{"tokens":' || old.base_tokens || ',"version":' || old.base_version || ',"len":'
              || old.base_len || ',"estimate":' || old.base_estimate || '}}',
            ',"calibration":' || old.calibration, ',"marks":' || nullif(old.marks, 0),
            ',"content":[', old.hid, ',', old.layout,
            ']}},"previous_version":', old.version, ',"entry_ids":', id_lists[i], '}}'), 'UTF8'), times[i]
          FROM free WHERE operation_ids[i] <> ''
      )
      UPDATE history h SET version = old.version + 1, len = old.len + sizes[i], tail = old.tail + sizes[i],
          cumulative = old.cumulative + grown[i], estimate = old.estimate + grown[i], updated_at = times[i]
        FROM free WHERE h.hid = old.hid RETURNING h.* INTO new;
    END IF;
    IF NOT FOUND THEN
      refused := refused || hids[i];
      CONTINUE;
    END IF;
    IF operation_ids[i] <> '' AND new.version % {FORGET_EVERY} = 0 THEN
      DELETE FROM operation o WHERE o.name = new.name AND o.id <= (
        SELECT p.id FROM operation p WHERE p.name = new.name ORDER BY p.id DESC LIMIT 1 OFFSET {REMEMBERED});
    END IF;
    RETURN NEXT new;
  END LOOP;
END $$;
"""
