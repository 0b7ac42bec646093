"""What several vendors share, each written once.

`layout` puts results behind their calls; `identifiers` maps ids and names; `content`, `media` and `reasoning` make
the parts of one message legal; `shaper` places system text and messages, with one module per wire family behind it:
`chat` (messages with a role and `tool_calls`), `blocks` (alternating messages of blocks).
"""
